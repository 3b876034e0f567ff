import { fchmodSync, fstatSync, statSync, utimesSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Deps, type RunFolder, WorkspaceError } from '../../deps.ts';
import { type Directory, openTop, openTree } from '../../files/index.ts';
import { asideOf, requireRecord } from '../../run-folder/index.ts';
import { soundLayer } from './check-layer.ts';
import { type Layer, layerFile } from './layer.ts';
import * as mounts from './mounts.ts';

/**
 * Mounts the tree of a run unless already mounted, or a plain folder. Every use of a tree begins with this function, so a mount point is never
 * read as an empty tree.
 *
 * @returns the layer below the tree; undefined for a plain folder
 * @throws WorkspaceError `ELAYERLOST` when the layer is gone or damaged, or the tree cannot be mounted here: the tree must be built again from the
 * snapshot
 */
export async function mountedTree(deps: Deps, folder: RunFolder): Promise<Layer | undefined> {
  const record = mounts.readOverlay(folder);
  if (record === undefined) return undefined;
  const { layer, why } = await soundLayer(deps, record.layer);
  if (layer === undefined || layer.list.status !== record.list) {
    const what = why === undefined ? 'is gone' : `is damaged, and was set aside. ${why}`;
    const text = `The layer that the tree ${folder.epoch} of ${folder.runId} stands on ${what}`;
    throw new WorkspaceError('ELAYERLOST', why === undefined ? `${text}.` : text);
  }
  // Before the look: maintenance unmounts unused trees, and reads this time last.
  noteUse(deps, folder, layer);
  if (!mounts.isMountPoint(folder.tree)) {
    const { owner } = requireRecord(folder);
    await unmountAside(folder);
    await mounts
      .mountOverlay({
        ...{
          layer: layer.root,
          upper: mounts.upperOf(folder),
          work: mounts.workOf(folder),
          target: folder.tree,
          owner,
        },
        adoptWith: mounts.overlayFile(mounts.overlayOf(folder)),
      })
      .catch((error: unknown) => giveUp(folder, error));
    await mounts.boundMounts(deps);
  }
  return layer;
}

/** Whether a tree cannot be used here, and has to be built again from its snapshot. */
export const isTreeLost = (error: unknown): error is WorkspaceError =>
  error instanceof WorkspaceError && error.code === 'ELAYERLOST';

/**
 * Opens a tree mounted by `mountedTree`. While the tree is open the kernel refuses to unmount the tree.
 * @throws WorkspaceError `EWORKSPACEBUSY` when the tree was unmounted in between: its mount point is never read as an empty tree
 */
export function openMounted(folder: RunFolder, layer: Layer | undefined): Directory {
  if (layer === undefined) return openTree(folder.tree);
  const top = openTop(folder.tree);
  const { dev, mode } = fstatSync(top.fd);
  if (dev === statSync(mounts.overlayOf(folder)).dev) {
    top[Symbol.dispose]();
    throw new WorkspaceError('EWORKSPACEBUSY', `The tree ${folder.epoch} of ${folder.runId} was unmounted.`);
  }
  if ((mode & 0o700) !== 0o700) fchmodSync(top.fd, (mode & 0o777) | 0o700);
  return top;
}

/**
 * An earlier mount may be refused now: a worker in a container has the tree in a mount namespace hidden from this process, the folders were
 * copied to another place or brought back from a backup, or this worker has lost the right to mount. The later trees of the run are plain
 * folders without mounts.
 */
function giveUp(folder: RunFolder, error: unknown): never {
  if (!(error instanceof WorkspaceError)) throw error;
  mounts.keepPlain(folder);
  throw new WorkspaceError('ELAYERLOST', error.message, { cause: error });
}

/**
 * A take-over with a crash right after placing the tree left the tree mounted in its building place, and the kernel mounts the same tree
 * only once.
 */
async function unmountAside(folder: RunFolder): Promise<void> {
  const aside = asideOf(folder, '');
  await mounts.unmountIn(dirname(aside), (point) => point.startsWith(aside));
}

const interval = 60_000;

/** Maintenance unmounts the trees, and removes the layers, with the longest time since their last use. */
function noteUse(deps: Pick<Deps, 'now'>, folder: RunFolder, { path }: Layer): void {
  const now = deps.now();
  for (const file of [mounts.overlayFile(mounts.overlayOf(folder)), layerFile(path)]) {
    const { mtimeMs } = statSync(file);
    if (Math.abs(now - mtimeMs) > interval) utimesSync(file, now / 1000, now / 1000);
  }
}
