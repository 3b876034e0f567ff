import * as fs from 'node:fs';
import { copyFile, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { finished } from 'node:stream/promises';
import { type Deps, errnoOf, type Owner, type Progress, WorkspaceError } from '../deps.ts';
import { type Directory, linkFile, openChain, openTop, removeFolder, syncPath, writeDurably } from '../files/index.ts';
import { bigFileFlags, pipeInput } from '../host-git/git.ts';
import type { RemoteAccess } from '../port/remote-git.ts';
import { temporaryPath } from '../run-folder/index.ts';
import type { Repository } from '../source/git/repository.ts';
import { beginEntry } from '../store/keyed/index.ts';
import { isRefName, writeRef } from '../store/objects/index.ts';
import { createBare } from '../store/shadow.ts';
import { assertDone } from './failure.ts';
import * as fetched from './fetched.ts';

const units = { bytes: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const;

/** Reads git's `Receiving objects:  45% (123/456), 12.30 MiB | 1.2 MiB/s`: objects count as files. */
function readProgress(line: string): Progress | undefined {
  const [, objects, size, unit] =
    /^Receiving objects: +\d+% \((\d+)\/\d+\)(?:, ([\d.]+) (bytes|[KMG]iB))?/.exec(line) ?? [];
  if (objects === undefined) return undefined;
  return {
    files: Number(objects),
    bytes: Math.round(Number(size ?? 0) * units[(unit ?? 'bytes') as keyof typeof units]),
  };
}

interface Input {
  runId: string;
  access: RemoteAccess;
  /** The full name of a ref, or a commit. */
  name: string;
  /** How many commits from the tip. */
  depth: number;
  onProgress?: ((progress: Progress) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Fetches a commit, without its other branches and tags. git runs apart, on a throw-away repository: this process takes nothing from there
 * but packs, indexed by this process, and the ids of commits.
 * @returns the repository, and the commit of the ref at the time of the fetch
 */
export async function fetchCommit(deps: Deps, input: Input): Promise<{ repository: Repository; commit: string }> {
  const { runId, access, name, depth, onProgress, signal } = input;
  const git = remoteGit(deps);
  const before = await fetched.newestFetched(deps, access);
  const args = ['fetch', `--depth=${depth}`, '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance'].concat([
    '--no-recurse-submodules',
    '--force',
    '--progress',
    '--',
    access.remote.url,
    `${name}:${fetched.wanted}`,
  ]);
  const fetch = async (folder: string, owner: Owner) => {
    const report = (line: string) => {
      const progress = readProgress(line);
      if (progress !== undefined) onProgress?.(progress);
    };
    const result = await git.run({ runId, access, folder, owner, args, onProgress: report, signal });
    assertDone(access, result);
    deps.onPoint('remote.fetched');
    return keep(deps, { ...input, folder, before });
  };
  return withStaging(deps, runId, fetch, (folder) => seed(deps, before, folder));
}

/** Earlier fetched objects need not be sent again. Only root can share a file read-only with another user. */
async function seed(deps: Deps, from: string | undefined, to: string): Promise<void> {
  if (from === undefined) return;
  for (const name of await packsIn(from)) {
    const [source, target] = [join(from, 'objects/pack', name), join(to, 'objects/pack', name)];
    await (deps.isRoot ? linkFile(source, target) : copyFile(source, target, fs.constants.COPYFILE_FICLONE));
  }
  for (const name of ['shallow', fetched.wanted]) {
    if (!fs.existsSync(join(from, name))) continue;
    fs.mkdirSync(dirname(join(to, name)), { recursive: true });
    await copyFile(join(from, name), join(to, name));
  }
}

const packsIn = async (path: string): Promise<string[]> =>
  (await readdir(join(path, 'objects/pack'))).filter((name) => /^pack-[0-9a-f]{40}\.(pack|idx)$/.test(name));

/** Makes a repository of this process's own from the fetched objects. A rename is the commit point. */
async function keep(deps: Deps, input: Input & { folder: string; before: string | undefined }) {
  const { access, depth, signal, before } = input;
  await using build = beginEntry(deps, fetched.remoteKind);
  const { path } = build;
  await createBare(path);
  const known = new Set(before === undefined ? [] : await packsIn(before));
  for (const name of known) await linkFile(join(before ?? '', 'objects/pack', name), join(path, 'objects/pack', name));
  using staged = openTop(input.folder);
  for (const name of await packsIn(input.folder)) {
    if (name.endsWith('.pack') && !known.has(name)) await indexPack(deps, { staged, name, path, signal });
  }
  const shallow = readPlain(staged, 'shallow')?.toString('latin1').split('\n').slice(0, -1) ?? [];
  if (!shallow.every(isId)) throw broken(access);
  if (shallow.length > 0) await writeDurably(join(path, 'shallow'), `${shallow.join('\n')}\n`, 0o644);
  const tip =
    readPlain(staged, ...fetched.wanted.split('/'))
      ?.toString('latin1')
      .trim() ?? '';
  if (!isId(tip)) throw broken(access);
  const args = [`--git-dir=${path}`, 'rev-parse', '--verify', '--quiet', `${tip}^{commit}`];
  const commit = (await deps.git.run(args, { accept: [0, 1, 128], signal })).stdout.toString('latin1').trim();
  if (!isId(commit)) throw new WorkspaceError('EREFUNKNOWN', `${input.name} of ${access.remote.url} is not a commit.`);
  await writeRef(path, fetched.wanted, commit);
  await fetched.seal(path);
  for (const name of ['objects/pack', 'objects']) await syncPath(join(path, name));
  const at = join(fetched.folderOf(deps, access), fetched.nameOf(commit, depth));
  const isPlaced = await build.place(at, {
    isSound: async () => fs.existsSync(at) && (await fetched.isSound(deps, at)),
    isTorn: () => !fs.existsSync(at),
  });
  const repository = isPlaced ? fetched.asRepository(at) : await fetched.findFetched(deps, { access, commit, depth });
  if (repository === undefined) throw broken(access);
  return { repository, commit };
}

const isId = (text: string): boolean => /^[0-9a-f]{40}$/.test(text);

const broken = ({ remote }: RemoteAccess): WorkspaceError =>
  new WorkspaceError('EREMOTEUNREACHABLE', `The repository fetched from ${remote.url} cannot be used.`);

async function indexPack(
  deps: Deps,
  input: { staged: Directory; name: string; path: string; signal?: AbortSignal | undefined },
): Promise<void> {
  using folder = openChain(input.staged, ['objects', 'pack']);
  const fd = folder && openPlain(folder, input.name);
  if (fd === undefined) return;
  const options = input.signal === undefined ? {} : { signal: input.signal };
  const indexing = deps.git.stream([...bigFileFlags, `--git-dir=${input.path}`, 'index-pack', '--stdin'], options);
  indexing.stdout.resume();
  const reading = fs.createReadStream('', { fd });
  pipeInput(reading, indexing.stdin);
  indexing.done.catch(() => reading.destroy());
  await Promise.all([indexing.done, finished(reading)]);
}

/** A small file, read without following a link. */
function readPlain(top: Directory, ...names: string[]): Buffer | undefined {
  using folder = openChain(top, names.slice(0, -1));
  const fd = folder && openPlain(folder, names.at(-1) ?? '');
  if (fd === undefined) return undefined;
  try {
    return fs.fstatSync(fd).size > 64 * 1024 * 1024 ? undefined : fs.readFileSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

function openPlain(folder: Directory, name: string): number | undefined {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
  try {
    const fd = fs.openSync(folder.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (fs.fstatSync(fd).isFile()) return fd;
    fs.closeSync(fd);
    return undefined;
  } catch (error) {
    if (['ENOENT', 'ELOOP', 'ENOTDIR'].includes(errnoOf(error) ?? '')) return undefined;
    throw error;
  }
}

/** Reads refs of a remote: full names and their objects. A tag has its commit under `refs/tags/NAME^{}`. */
export async function listRefs(
  deps: Deps,
  input: { runId: string; access: RemoteAccess; patterns: readonly string[]; signal?: AbortSignal | undefined },
): Promise<Map<string, string>> {
  const { runId, access, patterns, signal } = input;
  const git = remoteGit(deps);
  const result = await withStaging(deps, runId, (folder: string, owner: Owner) =>
    git.run({ runId, access, folder, owner, args: ['ls-remote', '--', access.remote.url, ...patterns], signal }),
  );
  assertDone(access, result);
  const rows = result.stdout.split('\n').map((row) => /^([0-9a-f]{40})\t(\S.*)$/.exec(row));
  return new Map(rows.flatMap((row) => (row === null ? [] : [[row[2] ?? '', row[1] ?? '']])));
}

export function remoteGit({ remoteGit: git }: Pick<Deps, 'remoteGit'>) {
  if (git !== undefined) return git;
  throw new WorkspaceError('EREMOTEOFF', 'This process cannot read remote repositories.');
}

/** The target of a user's name: the ref to fetch, and its commit. */
export async function findRemoteRef(
  deps: Deps,
  input: { runId: string; access: RemoteAccess; ref: string | undefined; signal?: AbortSignal | undefined },
): Promise<{ name: string; commit: string }> {
  const { ref = 'HEAD', access } = input;
  if (/^[0-9a-f]{40}$/.test(ref)) return { name: ref, commit: ref };
  const none = (why: string) =>
    new WorkspaceError('EREFUNKNOWN', `${access.remote.url} has no ${JSON.stringify(ref)}${why}.`);
  const names = ref === 'HEAD' || ref.startsWith('refs/') ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}`];
  // A plus sign or a dash at the beginning has another meaning for git.
  if (/^[-+]/.test(ref) || !names.every((name) => name === 'HEAD' || isRefName(name)))
    throw none(': a remote source takes a branch, a tag or the whole id of a commit');
  const refs = await listRefs(deps, { ...input, patterns: names.flatMap((name) => [name, `${name}^{}`]) });
  const name = names.find((one) => refs.has(one));
  const commit = name && (refs.get(`${name}^{}`) ?? refs.get(name));
  if (name === undefined || commit === undefined) throw none(ref === 'HEAD' ? ': the repository is empty' : '');
  return { name, commit };
}

/**
 * Acts on a new bare repository with another user as a permitted writer. Removed afterwards; when the process dies, the next process removes it with
 * other unfinished work. No git of this process runs inside once the other user could write.
 * @param fill adds to the repository while the repository is still this process's own
 */
export async function withStaging<Result>(
  deps: Deps,
  runId: string,
  act: (folder: string, owner: Owner) => Promise<Result>,
  fill: (folder: string) => Promise<void> = () => Promise.resolve(),
): Promise<Result> {
  const path = temporaryPath(deps, runId);
  fs.mkdirSync(path, { recursive: true, mode: 0o711 });
  try {
    const folder = join(path, 'staging.git');
    await createBare(folder);
    await fill(folder);
    const owner = await deps.allocateOwner(runId);
    if (deps.isRoot) giveTo(folder, owner);
    return await act(folder, owner);
  } finally {
    await removeFolder(path);
  }
}

function giveTo(path: string, { uid, gid }: Owner): void {
  fs.chownSync(path, uid, gid);
  for (const entry of fs.readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) giveTo(join(path, entry.name), { uid, gid });
    // Packs may be shared with the cache, by a link.
    else if (!/^pack-.*\.(pack|idx)$/.test(entry.name)) fs.chownSync(join(path, entry.name), uid, gid);
  }
}
