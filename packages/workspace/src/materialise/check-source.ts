import { accessSync, constants, realpathSync, type Stats, statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { isRemote, placeOf, type Source } from '@holdpoint/contract';
import { type Call, type Deps, errnoOf, WorkspaceError } from '../deps.ts';
import type { Git } from '../host-git/git.ts';
import { accessTo, openRemote } from '../remote/remote-target.ts';
import { detectFormat } from '../source/archive/extract-archive.ts';
import { checkFolders } from '../source/folders/index.ts';
import { gitDirectoryOf } from '../source/git/layout.ts';
import { readNamedCommit } from '../source/git/named-commit.ts';
import { type FoundSource, linkedWorkTree, openWatched, type Repository, readGit } from '../source/git/repository.ts';
import { createSelection } from '../source/import-context.ts';
import { assertComplete } from './complete-source.ts';

type CheckDeps = Pick<Deps, 'git' | 'bounds' | 'isRoot' | 'limits'>;

/** Throws a `WorkspaceError` for an unusable source, without side effects. No remote is contacted. */
export async function checkSource(deps: CheckDeps, source: Source): Promise<void> {
  using watches = new DisposableStack();
  if (!isRemote(source)) return void (await findLocal(deps, source, { watches }));
  createSelection(source);
  accessTo(deps, source, '');
}

interface Finding {
  signal?: AbortSignal | undefined;
  /** Ends the watches of the found objects. */
  watches: DisposableStack;
}

/** Finds the source, and fetches a remote source. Throws a `WorkspaceError` for an unusable source. */
export async function findSource(
  deps: Deps,
  { source, tenant = '', watches, ...input }: Call<'materialise'> & Pick<Finding, 'watches'>,
): Promise<FoundSource> {
  if (!isRemote(source)) return findLocal(deps, source, { signal: input.signal, watches });
  createSelection(source);
  return { type: 'git', ...(await openRemote(deps, { ...input, source, tenant })) };
}

async function findLocal(deps: CheckDeps, source: Source, { signal, watches }: Finding): Promise<FoundSource> {
  if (source.type === 'empty') return { type: 'empty' };
  createSelection(source);
  const path = source.type === 'archive' ? realFile(source.path) : realDirectory(placeOf(source));
  deps.bounds.assert(path, 'source');
  switch (source.type) {
    case 'directory': {
      assertReadable(path);
      const found = { type: 'directory', path } as const;
      await checkFolders(deps, { source, found, top: path });
      return found;
    }
    case 'archive':
      assertArchive(path);
      return { type: 'archive', path };
    case 'git': {
      const repository = await findRepository(deps, { path, watches });
      const named = await resolveCommit(deps.git, repository, { path, ref: source.ref ?? 'HEAD', signal });
      await assertComplete(deps.git, { source, repository, commit: named.commit, signal });
      const found = { type: 'git', repository, ...named } as const;
      await checkFolders(deps, { source, found, top: path });
      return found;
    }
    default:
      throw source satisfies never;
  }
}

function realDirectory(path: string): string {
  const { real, status } = findPath(path, 'ESOURCENOTDIRECTORY');
  if (status.isDirectory()) return real;
  throw new WorkspaceError('ESOURCENOTDIRECTORY', `${path} is not a directory.`);
}

function realFile(path: string): string {
  const { real, status } = findPath(path, 'ESOURCENOTARCHIVE');
  if (status.isFile()) return real;
  throw new WorkspaceError('ESOURCENOTARCHIVE', `${path} is not a file.`);
}

function assertArchive(path: string): void {
  try {
    if (detectFormat(path) !== undefined) return;
  } catch (cause) {
    throw new WorkspaceError('ESOURCEUNREADABLE', `${path} cannot be read.`, { cause });
  }
  throw new WorkspaceError('ESOURCENOTARCHIVE', `${path} is neither tar, tar.gz nor zip.`);
}

function findPath(path: string, wrong: 'ESOURCENOTDIRECTORY' | 'ESOURCENOTARCHIVE'): { real: string; status: Stats } {
  if (!isAbsolute(path)) throw new WorkspaceError(wrong, `${path} is not an absolute path.`);
  try {
    const real = realpathSync(path);
    return { real, status: statSync(real) };
  } catch (cause) {
    const errno = errnoOf(cause);
    if (errno === 'ENOENT' || errno === 'ENOTDIR' || errno === 'ELOOP') {
      throw new WorkspaceError('ESOURCEMISSING', `${path} does not exist.`, { cause });
    }
    throw new WorkspaceError('ESOURCEUNREADABLE', `${path} cannot be read.`, { cause });
  }
}

function assertReadable(path: string): void {
  try {
    accessSync(path, constants.R_OK | constants.X_OK);
  } catch (cause) {
    throw new WorkspaceError('ESOURCEUNREADABLE', `${path} cannot be read.`, { cause });
  }
}

/** The repository of a work tree's top folder, or a bare repository: a run on a subfolder must not silently copy the whole repository. */
async function findRepository(
  deps: Pick<Deps, 'bounds' | 'isRoot'>,
  { path, watches }: { path: string; watches: DisposableStack },
): Promise<Repository> {
  const gitDir = await gitDirectoryOf(path);
  const repository = gitDir === undefined ? undefined : await openWatched(deps, { path, gitDir, use: 'source' });
  if (repository === undefined) throw notGit(path);
  watches.use(repository.watch);
  return repository;
}

const notGit = (path: string): WorkspaceError =>
  new WorkspaceError('ESOURCENOTGIT', `${path} is not the top of a git repository.`);

interface Asked {
  path: string;
  ref: string;
  signal?: AbortSignal | undefined;
}

async function resolveCommit(
  git: Git,
  repository: Repository,
  { path, ref, signal }: Asked,
): Promise<{ commit: string; content?: Buffer }> {
  const own = linkedWorkTree(repository);
  const name = own === undefined ? ref : ref.replace(/^(HEAD|@)(?=$|[~^:]|@\{)/, `${own}/HEAD`);
  const read = await readNamedCommit(git, repository, { name, signal });
  if (read !== undefined) return read;
  await assertUsableFormat(git, repository, path);
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`];
  const found = await readGit(git, repository, args, { accept: [0, 1, 128] });
  const commit = found.stdout.toString('latin1').trim();
  if (found.code === 0 && /^[0-9a-f]{40}$/.test(commit)) return { commit };
  throw new WorkspaceError('EREFUNKNOWN', `The repository has no commit ${JSON.stringify(ref)}.`);
}

async function assertUsableFormat(git: Git, repository: Repository, path: string): Promise<void> {
  const found = await readGit(git, repository, ['rev-parse', '--show-object-format'], { accept: [0, 128] });
  if (found.code !== 0) throw notGit(path);
  const format = found.stdout.toString('latin1').trim();
  if (format !== 'sha1') throw new WorkspaceError('ESOURCEFORMAT', `${path} uses ${format} object ids.`);
}
