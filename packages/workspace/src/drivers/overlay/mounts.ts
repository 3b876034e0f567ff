import { existsSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { mountPointsIn } from '../../bounds/mounts.ts';
import type { Deps } from '../../deps.ts';
import { errnoOf } from '../../errors.ts';
import { readJson, removeFolder, type Yielder } from '../../files/index.ts';
import { type Owner, WorkspaceError } from '../../port/workspaces.ts';
import type { RunFolder } from '../../run-folder/run-folder.ts';
import type { TreePath } from '../port.ts';
import { askMounter, MountError } from './mounter.ts';
import { deviceOf, devicesInUse, foreignMounts } from './other-namespaces.ts';

/** The parts of an overlay: host paths on the same file system. */
export interface OverlayMount {
  /** The folder to mount read-only. Its files belong to the user of this process. */
  layer: string;
  upper: string;
  work: string;
  target: string;
  owner: Owner;
  /**
   * File to lock, for a tree with an earlier mount: when another mount namespace still has this mount, a copy of the mount is used, because
   * the kernel mounts the same tree only once. @default no search for such a mount
   */
  adoptWith?: string;
  /** How often to try while the upper folder is part of another mount, with growing pauses. @default 40, 15 s in all */
  rounds?: number;
}

/**
 * Mounts an overlay for every process of the host: 3 ms. When two processes mount the same tree, one process succeeds and the other waits
 * for the mount. A starting sandbox copies all mounts for a moment, so an unmounted tree can be busy for as long. Throws EWORKSPACEBUSY
 * while the upper folder is part of another mount.
 */
export async function mountOverlay(mount: OverlayMount): Promise<void> {
  const { layer, upper, work, target, owner, adoptWith, rounds = 40 } = mount;
  for (let round = 1; !isMountPoint(target); round++) {
    // A volatile overlay marks its folder as unsafe after a power failure. Trees of another boot are never mounted.
    rmSync(join(work, 'work', 'incompat'), { recursive: true, force: true });
    try {
      await askMounter('mount', [layer, upper, work, target, String(owner.uid), String(owner.gid)]);
      return;
    } catch (error) {
      if (!(error instanceof MountError)) throw error;
      const { isBusy, message } = error;
      if (isBusy && adoptWith !== undefined && (await adoptMount(target, adoptWith))) return;
      if (round === rounds || !isBusy) {
        throw new WorkspaceError(isBusy ? 'EWORKSPACEBUSY' : 'EIO', `A tree could not be mounted: ${message}`);
      }
    }
    await sleep(20 * round);
  }
}

/** A new mount namespace begins with all mounts of the host, and some keep them. @returns whether the tree is mounted */
async function adoptMount(target: string, lock: string): Promise<boolean> {
  for (const { pid, point } of await foreignMounts()) {
    if (point !== target) continue;
    // The namespace may have ended, or be made by a user of the host.
    await askMounter('adopt', [pid, target, lock]).catch(() => {});
    if (isMountPoint(target)) return true;
  }
  return false;
}

/** Whether something is mounted at a folder of the data directory. */
export function isMountPoint(path: string): boolean {
  const device = statSync(path, { throwIfNoEntry: false })?.dev;
  return device !== undefined && device !== statSync(dirname(path)).dev;
}

/** Mounts the mount of `source` at `target`, without touching the overlay: a second mount of the overlay may be refused as busy. */
export const moveMount = (source: string, target: string): Promise<void> => askMounter('move', [source, target]);

/** Takes mounts away. Refused while a process of this mount namespace uses the mount; every path is tried. @throws MountError */
export const unmountUnused = (paths: readonly string[]): Promise<void> => askMounter('umount', paths);

/** Takes away every mount at or below a path. Processes with a mount in use keep the mount. @param isWanted @default all of them */
export async function unmountIn(path: string, isWanted: (point: string) => boolean = () => true): Promise<void> {
  if (process.getuid?.() !== 0 || process.platform !== 'linux') return;
  const points = mountPointsIn(path).filter(isWanted);
  if (points.length === 0) return;
  // Another process may be faster: only the absence of mounts at the end matters.
  await askMounter('detach', points).catch(() => {});
  const left = mountPointsIn(path).filter(isWanted);
  if (left.length > 0) throw new WorkspaceError('EIO', `${left[0]} could not be unmounted.`);
}

/** The layer below a tree of a run. In the folder of the overlay, next to `upper` and `work`. */
const overlaySchema = z.strictObject({
  format: z.literal(1),
  /** Folder of the layer below `layers/`. */
  layer: z.string().regex(/^[0-9a-f]{32}\/[0-9a-f]{64}$/),
  /** Its git tree, contained in the run's repository. */
  tree: z.string().regex(/^[0-9a-f]{40}$/),
  /** The status of its list: a new layer under the same name has another status. */
  list: z.string().optional(),
});
type OverlayRecord = z.infer<typeof overlaySchema>;

/** The folder with the run's writes. Trees in the making and out of use have theirs next to them. */
export function overlayOf({ tree }: TreePath): string {
  const above = dirname(tree);
  return basename(above) === 'trees' ? join(dirname(above), 'overlays', basename(tree)) : `${tree}.overlay`;
}

export const overlayFile = (overlay: string): string => join(overlay, 'overlay.json');

/** Undefined for a plain folder. */
export const readOverlay = (tree: TreePath): OverlayRecord | undefined => readRecord(overlayOf(tree));

const readRecord = (overlay: string): OverlayRecord | undefined => readJson(overlayFile(overlay), overlaySchema);

/** The name of the former layer below the tree of an overlay, if its record is readable. */
export function formerLayer(overlay: string): string | undefined {
  try {
    return readRecord(overlay)?.layer;
  } catch {
    // Torn by a power failure.
    return undefined;
  }
}

export const overlayText = (record: OverlayRecord): string => JSON.stringify(overlaySchema.parse(record));

/** Exists when every later tree of the run is to be a plain folder. */
const plainMark = ({ path }: Pick<RunFolder, 'path'>): string => join(path, 'plain-trees');
export const staysPlain = (folder: Pick<RunFolder, 'path'>): boolean => existsSync(plainMark(folder));
export const keepPlain = (folder: Pick<RunFolder, 'path'>): void => {
  writeFileSync(plainMark(folder), '', { mode: 0o600 });
};

export const upperOf = (tree: TreePath): string => join(overlayOf(tree), 'upper');
export const workOf = (tree: TreePath): string => join(overlayOf(tree), 'work');

/** Every sandbox copies the table of mounts at its start: 64 take 0.2 ms. */
const maxMounts = 64;
const minute = 60_000;

const pauseMs = 500;

/**
 * Unmounts the least recently used trees: beyond 64, trees unused for 10 minutes, and every tree unused for an hour. The next use mounts
 * them again. A tree in use by any process stays.
 * @param input.waitMs how long to retry refused unmounts. @default a single try
 */
export async function boundMounts(
  deps: Pick<Deps, 'dataDir' | 'now' | 'isRoot'>,
  input: { most?: number; waitMs?: number } = {},
): Promise<void> {
  if (!deps.isRoot || process.platform !== 'linux') return;
  const { waitMs = 0 } = input;
  for (let left = waitMs; ; left -= pauseMs) {
    const unused = unusedTrees(deps, input);
    if (unused.length === 0) return;
    const inUse = await devicesInUse();
    for (const { path, allowedMs } of unused) {
      // A worker may have begun to use the tree while the processes of the host were read.
      if (inUse.has(deviceOf(path)) || deps.now() - usedAt(path) <= allowedMs) continue;
      await unmountUnused([path]).catch(() => {});
    }
    if (left <= 0) return;
    await sleep(pauseMs);
  }
}

function unusedTrees(
  deps: Pick<Deps, 'dataDir' | 'now'>,
  { most = maxMounts }: { most?: number },
): { path: string; allowedMs: number }[] {
  const points = mountPointsIn(join(deps.dataDir, 'runs')).filter((path) => basename(dirname(path)) === 'trees');
  const idle = points.map((path) => ({ path, idleMs: deps.now() - usedAt(path) })).sort((a, b) => a.idleMs - b.idleMs);
  return idle
    .map((one, index) => ({ ...one, allowedMs: (index < most ? 60 : 10) * minute }))
    .filter(({ idleMs, allowedMs }) => idleMs > allowedMs);
}

function usedAt(tree: string): number {
  return statSync(overlayFile(overlayOf({ tree })), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Removes a folder with possible trees of runs. */
export async function removeTrees(path: string, maybeYield?: Yielder): Promise<void> {
  await unmountIn(path);
  await removeFolder(path, maybeYield);
}

/** Removes a tree in the making or out of use, with the run's writes. */
export async function removeTree(tree: string): Promise<void> {
  for (const path of [tree, pointOf(tree), overlayOf({ tree })]) await removeTrees(path);
}

/** The mount point of a tree in use: the mount point of its build cannot be renamed. */
export const pointOf = (aside: string): string => `${aside}.point`;

/** Takes away the mounts of trees below a path. */
export const releaseTrees = (path: string): Promise<void> => unmountIn(path);

/** Moves a tree out of use, with the run's writes. @returns false when another process was faster */
export async function retireTree(tree: string, to: string): Promise<boolean> {
  if (!(await renameTree(tree, to))) return false;
  await renameTree(overlayOf({ tree }), overlayOf({ tree: to }));
  return true;
}

const maxRounds = 10;

/** Renames a tree after unmounting the tree: the kernel renames no mount point. Returns whether the tree existed. */
async function renameTree(from: string, to: string): Promise<boolean> {
  for (let round = 1; ; round++) {
    await unmountIn(from);
    try {
      renameSync(from, to);
      return true;
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === 'ENOENT') return false;
      // Another process has mounted the tree once more.
      if (errno !== 'EBUSY' || round === maxRounds) throw error;
    }
  }
}
