import { fchmodSync, fstatSync, statSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Deps, type RunFolder, WorkspaceError } from '../deps.ts';
import { type Directory, openTop, openTree } from '../files/index.ts';
import { requireRecord } from '../run/index.ts';
import { boundMounts } from './bound-mounts.ts';
import { soundLayer } from './check-layer.ts';
import { type Layer, layerFile } from './layer.ts';
import { isMountPoint, mountOverlay, unmountIn } from './mounts.ts';
import { keepPlain, overlayFile, readOverlay, upperOf, workOf } from './overlay-record.ts';

/**
 * Mounts the tree of a run unless it is mounted, or is a plain folder. Every use of a tree begins with this, so a mount point is never
 * read as an empty tree.
 *
 * @returns the layer that the tree stands on; undefined for a plain folder
 * @throws WorkspaceError `ELAYERLOST` when the layer is gone or damaged, or the tree cannot be mounted here: it must be built again from the snapshot
 */
export async function mountedTree(deps: Deps, folder: RunFolder): Promise<Layer | undefined> {
  const record = readOverlay(folder);
  if (record === undefined) return undefined;
  const { layer, why } = await soundLayer(deps, record.layer);
  if (layer === undefined || layer.list.status !== record.list) {
    const what = why === undefined ? 'is gone' : `is damaged, and was set aside. ${why}`;
    const text = `The layer that the tree ${folder.epoch} of ${folder.runId} stands on ${what}`;
    throw new WorkspaceError('ELAYERLOST', why === undefined ? `${text}.` : text);
  }
  // Before the look: maintenance unmounts what was not used, and looks at this time last.
  noteUse(deps, folder, layer);
  if (!isMountPoint(folder.tree)) {
    const { owner } = requireRecord(folder);
    await unmountAside(folder);
    await mountOverlay({
      ...{ layer: layer.root, upper: upperOf(folder), work: workOf(folder), target: folder.tree, owner },
      adoptWith: overlayFile(folder.overlay),
    }).catch((error: unknown) => giveUp(folder, error));
    await boundMounts(deps);
  }
  return layer;
}

/**
 * Opens a tree that `mountedTree` has mounted. While it is open the kernel refuses to unmount it.
 * @throws WorkspaceError `EWORKSPACEBUSY` when it was unmounted in between: its mount point is never read as an empty tree
 */
export function openMounted(folder: RunFolder, layer: Layer | undefined): Directory {
  if (layer === undefined) return openTree(folder.tree);
  const top = openTop(folder.tree);
  const { dev, mode } = fstatSync(top.fd);
  if (dev === statSync(folder.overlay).dev) {
    top[Symbol.dispose]();
    throw new WorkspaceError('EWORKSPACEBUSY', `The tree ${folder.epoch} of ${folder.runId} was unmounted.`);
  }
  if ((mode & 0o700) !== 0o700) fchmodSync(top.fd, (mode & 0o777) | 0o700);
  return top;
}

/**
 * What was mounted once may be refused: a worker in a container has the tree in a mount namespace that this process does not see, the folders
 * were copied to another place or brought back from a backup, or this worker may mount no longer. The later trees of the run are plain folders,
 * which need no mount.
 */
function giveUp(folder: RunFolder, error: unknown): never {
  if (!(error instanceof WorkspaceError)) throw error;
  keepPlain(folder);
  throw new WorkspaceError('ELAYERLOST', error.message, { cause: error });
}

/** Where a take-over builds the tree of an epoch. */
export const asideOf = (folder: RunFolder, nonce: string): string =>
  join(folder.path, 'retired', `${folder.epoch}.new-${nonce}`);

/** A take-over that died after it had placed the tree left it mounted where it was built, and the kernel mounts it once only. */
async function unmountAside(folder: RunFolder): Promise<void> {
  const aside = asideOf(folder, '');
  await unmountIn(dirname(aside), (point) => point.startsWith(aside));
}

const interval = 60_000;

/** Maintenance unmounts the trees, and removes the layers, that were not used for the longest time. */
function noteUse(deps: Pick<Deps, 'now'>, folder: RunFolder, { path }: Layer): void {
  const now = deps.now();
  for (const file of [overlayFile(folder.overlay), layerFile(path)]) {
    const { mtimeMs } = statSync(file);
    if (Math.abs(now - mtimeMs) > interval) utimesSync(file, now / 1000, now / 1000);
  }
}
