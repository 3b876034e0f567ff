import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Source } from '@holdpoint/contract';
import type { Deps, RunFolder } from '../deps.ts';
import { linkFile, removeFolder, syncPath } from '../files/index.ts';
import type { Git } from '../host-git/git.ts';
import { readPieces, tooMany } from '../host-git/stream-blobs.ts';
import { asOwner, type Repository } from '../source/git/repository.ts';
import { pipePack } from '../source/git/take-commit.ts';
import type { SourcePool } from '../source/pool/source-pool.ts';
import { objectId } from '../store/objects/index.ts';
import { createBare } from '../store/shadow.ts';
import { walkCommits } from './walk-commits.ts';

/** A commit and the newest of its ancestors. */
export interface Ancestry {
  /** The number of commits, the first included. */
  commits: number;
  /** Parents of the first commit within the list. */
  parents: string[];
  /** Commits with a parent outside of the list: git must read these as commits without parents. */
  boundary: string[];
}

/** A commit whose object is in memory. */
export interface BaseCommit {
  id: string;
  /** Id of its tree. */
  tree: string;
  content: Buffer;
}

interface Input {
  repository: Repository;
  commit: BaseCommit;
  commits: number;
  signal?: AbortSignal;
}

/** Commits of a history. The longest history in practice has 1.4 million. */
const mostCommits = 5_000_000;
/** The head of a commit object (tree, parents, people, signature) is kept up to so many bytes; the message is not read. */
const largestHead = 1024 * 1024;

/** The first commit has all its parents, or none. */
export async function readAncestry(git: Git, input: Input): Promise<Ancestry> {
  const found = isAlone(input)
    ? new Map([[input.commit.id, []]])
    : ((await walkCommits(git, input)) ?? (await listCommits(git, input)));
  const ancestry: Ancestry = { commits: found.size, parents: [], boundary: [] };
  for (const [id, parents] of found) {
    const isWhole = parents.every((parent) => found.has(parent));
    if (!isWhole) ancestry.boundary.push(id);
    else if (id === input.commit.id) ancestry.parents = parents;
  }
  return ancestry;
}

/** Whether a commit has no parents, in its object and in the grafts that git follows. */
const isAlone = ({ commit, repository }: Input): boolean =>
  parentsIn(commit.content.toString('latin1')).length === 0 && !existsSync(join(repository.common, 'info/grafts'));

/**
 * The newest commits with their parents, as the objects name them: in its raw form git follows neither grafts nor the source's own shallow
 * file, which are missing in the workspace. Read piece by piece: full histories of large repositories have gigabytes of commit objects.
 */
async function listCommits(git: Git, input: Input): Promise<Map<string, string[]>> {
  const { repository, commit, commits, signal } = input;
  const { at, options } = asOwner(repository);
  const count = Number.isSafeInteger(commits + 1) ? [`--max-count=${commits}`] : [];
  const args = [...at, 'rev-list', '--header', '--encoding=none', ...count, '--end-of-options', commit.id];
  const found = new Map<string, string[]>();
  let head: Buffer[] = [];
  let bytes = 0;
  const take = (piece: Buffer): void => {
    if (bytes < largestHead) head.push(piece);
    bytes += piece.length;
  };
  for await (const piece of readPieces(git, args, { ...options, signal })) {
    let from = 0;
    for (let end = piece.indexOf(0); end !== -1; from = end + 1, end = piece.indexOf(0, from)) {
      take(piece.subarray(from, end));
      const record = Buffer.concat(head).toString('latin1');
      found.set(record.slice(0, record.indexOf('\n')), parentsIn(record));
      if (found.size > mostCommits) throw tooMany(mostCommits);
      [head, bytes] = [[], 0];
    }
    take(piece.subarray(from));
  }
  return found;
}

function parentsIn(content: string): string[] {
  const end = content.indexOf('\n\n');
  const head = end === -1 ? content : content.slice(0, end);
  return [...head.matchAll(/^parent ([0-9a-f]{40})$/gm)].map(([, parent = '']) => parent);
}

/**
 * The workspace's objects for `git log` and `git blame` in addition to its base commit: the earlier commits, and their objects missing in
 * the base commit. They lie in the run's folder, because no snapshot holds them and the source may be gone when a tree is built again.
 */
export const historyOf = ({ path }: RunFolder): string => join(path, 'history.git');

/** Commits of the history, the base commit included. */
const defaultCommits = 100;

/** The maximum number of commits; 0: none. Globs may hide files of older commits, so they leave the history out. */
export function commitsAsked(source: Source): number {
  if (source.type !== 'git' || source.include !== undefined || source.exclude !== undefined) return 0;
  const { history = defaultCommits } = source;
  if (history === 'none') return 0;
  return history === 'full' ? Number.MAX_SAFE_INTEGER : history;
}

/**
 * Copies the commits before the base commit, and only objects reached from these: no other branch, stash, reflog or configuration. A source
 * with a damaged history is still a source: without its history the workspace begins with a single commit.
 */
export async function takeHistory(
  deps: Pick<Deps, 'git' | 'logger'>,
  input: {
    folder: RunFolder;
    repository: Repository;
    commit: BaseCommit;
    commits: number;
    pool: SourcePool | undefined;
    signal?: AbortSignal;
  },
): Promise<Ancestry | undefined> {
  const { folder, commits, signal } = input;
  if (commits === 0) return undefined;
  try {
    const ancestry = await readAncestry(deps.git, input);
    if (ancestry.parents.length > 0) await copyObjects(deps, { ...input, ancestry });
    return ancestry;
  } catch (error) {
    signal?.throwIfAborted();
    deps.logger.warn({ run_id: folder.runId, err: error }, 'the history of the source cannot be read, and is left out');
    await removeFolder(historyOf(folder));
    return undefined;
  }
}

async function copyObjects(
  deps: Pick<Deps, 'git'>,
  input: {
    folder: RunFolder;
    repository: Repository;
    commit: BaseCommit;
    ancestry: Ancestry;
    pool: SourcePool | undefined;
    signal?: AbortSignal;
  },
): Promise<void> {
  const { repository, commit, ancestry, pool, signal } = input;
  const { at, options } = asOwner(repository);
  const path = historyOf(input.folder);
  await createBare(path);
  // A deepened source has another history of the same commit.
  const name = `${commit.id}.${objectId('commit', Buffer.from(JSON.stringify(ancestry)))}`;
  if ((await pool?.linkHistory(name, path)) === true) return syncHistory(path);
  // The base commit's own files are in the workspace's objects already.
  const revs = [...ancestry.boundary.map((id) => `--shallow ${id}`), ...ancestry.parents, `^${commit.tree}`];
  // git reuses the source's deltas and looks for no others: 100 commits of git.git take 0.5 s of a processor instead of 1.8, and 16 MB
  // instead of 7, once for all runs of the source.
  const packing = ['-c', 'pack.compression=1', 'pack-objects', '--window=0'];
  packing.push('--revs', '--stdout', '--delta-base-offset', '--shallow', '-q');
  await pipePack(deps.git, {
    pack: { args: [...at, ...packing], options: { ...options, signal } },
    index: { args: [`--git-dir=${path}`, 'index-pack', '--stdin'], options: { signal } },
    revs: `${revs.join('\n')}\n`,
  });
  await syncHistory(path);
  await pool?.keepHistory(name, path);
}

async function syncHistory(path: string): Promise<void> {
  for (const name of ['objects/pack', 'objects', '']) await syncPath(join(path, name));
}

/** Adds the packs of a run's history to a folder of objects visible to commands. */
export async function linkHistory(folder: RunFolder, pack: string): Promise<void> {
  const from = join(historyOf(folder), 'objects/pack');
  if (!existsSync(from)) return;
  for (const name of readdirSync(from).filter((one) => /^pack-[0-9a-f]{40}\.(pack|idx)$/.test(one))) {
    await linkFile(join(from, name), join(pack, name));
  }
}

/** Gives a fork the history of the other run. */
export async function shareHistory(from: RunFolder, to: RunFolder): Promise<void> {
  if (!existsSync(historyOf(from))) return;
  const pack = join(historyOf(to), 'objects/pack');
  await createBare(historyOf(to));
  mkdirSync(pack, { recursive: true });
  await linkHistory(from, pack);
  for (const path of [pack, join(pack, '..'), historyOf(to)]) await syncPath(path);
}
