import { accessSync, constants, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, isAbsolute, relative } from 'node:path';
import type { Deps } from '../deps.ts';
import { errnoOf, WorkspaceError } from '../errors.ts';
import type { Git } from '../host-git/git.ts';
import type { Source } from '../port.ts';
import { detectFormat } from './archive/extract-archive.ts';
import { assertComplete } from './complete-source.ts';
import { createSelection } from './selection.ts';

/** A source as it was found: where it really lies, and the commit of a git source. */
export type FoundSource =
  | { type: 'empty' }
  | { type: 'directory'; path: string }
  | { type: 'archive'; path: string }
  | { type: 'git'; gitDir: string; commit: string };

/** Finds the source, without side effects. Throws a `WorkspaceError` for one that cannot be used. */
export async function findSource(deps: Pick<Deps, 'git' | 'dataDir'>, source: Source): Promise<FoundSource> {
  if (source.type === 'empty') return { type: 'empty' };
  createSelection(source);
  const path = source.type === 'archive' ? realFile(source.path) : realDirectory(source.path);
  if (isInside(path, deps.dataDir)) {
    throw new WorkspaceError('ESOURCEINDATADIR', `${source.path} lies in the data directory.`);
  }
  switch (source.type) {
    case 'directory':
      assertReadable(path);
      return { type: 'directory', path };
    case 'archive':
      assertArchive(path);
      return { type: 'archive', path };
    case 'git': {
      const gitDir = await findGitDirectory(deps.git, path);
      const commit = await resolveCommit(deps.git, { gitDir, ref: source.ref ?? 'HEAD' });
      await assertComplete(deps.git, { source, gitDir, commit });
      return { type: 'git', gitDir, commit };
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

/**
 * The git directory of a work tree's top folder or of a bare repository. The ceiling keeps git from finding the repository of a
 * parent folder: a run on a sub-folder must not silently take the whole repository.
 */
async function findGitDirectory(git: Git, path: string): Promise<string> {
  const found = await git.run(['-C', path, 'rev-parse', '--absolute-git-dir', '--show-object-format'], {
    accept: [0, 128],
    env: { GIT_CEILING_DIRECTORIES: dirname(path) },
  });
  const [gitDir, format] = found.stdout.toString('utf8').split('\n');
  if (found.code !== 0 || gitDir === undefined || gitDir === '') {
    throw new WorkspaceError('ESOURCENOTGIT', `${path} is not the top of a git repository.`);
  }
  if (format !== 'sha1') throw new WorkspaceError('ESOURCEFORMAT', `${path} uses ${format} object ids.`);
  return gitDir;
}

async function resolveCommit(git: Git, input: { gitDir: string; ref: string }): Promise<string> {
  const expression = `${input.ref}^{commit}`;
  const args = [`--git-dir=${input.gitDir}`, 'rev-parse', '--verify', '--quiet', '--end-of-options', expression];
  const found = await git.run(args, { accept: [0, 1, 128] });
  const commit = found.stdout.toString('latin1').trim();
  if (found.code === 0 && /^[0-9a-f]{40}$/.test(commit)) return commit;
  throw new WorkspaceError('EREFUNKNOWN', `The repository has no commit ${JSON.stringify(input.ref)}.`);
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (!isAbsolute(way) && way.split('/')[0] !== '..');
}
