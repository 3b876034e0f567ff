import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf, WorkspaceError } from '../errors.ts';

/** Paths of a run's workspace. Only `tree` is ever mounted writable into a sandbox. */
export interface RunFolder {
  readonly runId: string;
  readonly path: string;
  /** The epoch of `tree` and `statCache`. */
  readonly epoch: number;
  readonly tree: string;
  readonly shadow: string;
  /** Written last: a folder without a record is incomplete. */
  readonly record: string;
  readonly statCache: string;
  readonly clock: string;
  /** See `tree-head.ts`. */
  readonly head: string;
  readonly publish: string;
  /** The whole texts of long results. Mounted read-only beside the tree. */
  readonly outputs: string;
  /** Only content with a way to make it again. */
  readonly cache: string;
  /** For a fork: the id of the original run. Not synced: a cache may begin without the origin. */
  readonly cacheOrigin: string;
}

export const isRunId = (name: string): boolean => /^[A-Za-z0-9_-]{1,128}$/.test(name);

/** @param epoch @default the epoch of the newest tree */
export function runFolder(dataDir: string, runId: string, epoch?: number): RunFolder {
  if (!isRunId(runId)) {
    throw new WorkspaceError('ERUNIDINVALID', `${JSON.stringify(runId)} is not a run id.`);
  }
  const path = join(dataDir, 'runs', runId);
  return folderAt(path, runId, epoch ?? currentEpoch(path) ?? 1);
}

export function folderAt(path: string, runId: string, epoch: number): RunFolder {
  return {
    runId,
    path,
    epoch,
    tree: join(path, 'trees', String(epoch)),
    shadow: join(path, 'shadow.git'),
    record: join(path, 'workspace.json'),
    statCache: join(path, `stat-cache.${epoch}`),
    clock: join(path, 'clock'),
    head: join(path, 'head'),
    publish: join(path, 'publish'),
    outputs: join(path, 'outputs'),
    cache: join(path, 'cache'),
    cacheOrigin: join(path, 'cache-origin'),
  };
}

export function cacheOf(dataDir: string, runId: string): { path: string; origin: string | undefined } {
  const { cache, cacheOrigin } = runFolder(dataDir, runId);
  const from = existsSync(cacheOrigin) ? readFileSync(cacheOrigin, 'utf8') : '';
  return { path: cache, origin: isRunId(from) ? runFolder(dataDir, from).cache : undefined };
}

/** Where a take-over builds the tree of an epoch. */
export const asideOf = ({ path, epoch }: RunFolder, nonce: string): string =>
  join(path, 'retired', `${epoch}.new-${nonce}`);

/** Epochs with a tree, in ascending order. */
export function epochsIn(path: string): number[] {
  try {
    return readdirSync(join(path, 'trees'))
      .filter((name) => /^[1-9]\d{0,14}$/.test(name))
      .map(Number)
      .sort((a, b) => a - b);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Marks the tree of this epoch as dropped and ready for a rebuild. */
export const dropMark = ({ path, epoch }: RunFolder): string => join(path, 'trees', `${epoch}.dropped`);

export const isDropped = (folder: RunFolder): boolean =>
  epochsIn(folder.path).length === 0 && existsSync(dropMark(folder));

/** Includes dropped trees, because epochs never go back. */
export function highestEpoch(path: string): number {
  try {
    return Math.max(0, ...readdirSync(join(path, 'trees')).map((name) => Number.parseInt(name, 10) || 0));
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return 0;
    throw error;
  }
}

export const currentEpoch = (path: string): number | undefined => epochsIn(path).at(-1);

/** Throws ELEASESTALE when the folder's tree is not the newest: another worker took the workspace over. */
export function assertCurrent(folder: RunFolder): void {
  if (currentEpoch(folder.path) !== folder.epoch) throw staleLease(folder);
}

export const staleLease = ({ runId, epoch }: RunFolder): WorkspaceError =>
  new WorkspaceError(
    'ELEASESTALE',
    `Another worker took over the workspace of ${runId}: its tree ${epoch} is no longer used.`,
  );
