import { chmodSync, chownSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Deps, type Owner, type RunFolder, WorkspaceError } from '../../deps.ts';
import { createHead } from '../../run-folder/index.ts';
import type { TreePath } from '../port.ts';
import { boundMounts } from './bound-mounts.ts';
import type { Layer } from './layer.ts';
import { mountOverlay, overlayFile, overlayOf, overlayText, upperOf, workOf } from './mounts.ts';

/**
 * Makes the tree of a new run: an overlay of the run over a layer, mounted at the return. The caller writes `.git` into the tree. The run's
 * folder may be renamed with the mount inside.
 */
export async function makeOverlayTree(
  deps: Deps,
  input: { folder: RunFolder; owner: Owner; layer: Layer },
): Promise<void> {
  const { folder } = input;
  mkdirSync(join(folder.path, 'trees'), { recursive: true, mode: 0o711 });
  await makeOverlay(deps, input);
  createHead(folder, deps.holder);
  await boundMounts(deps);
}

/** Makes the overlay and the mount point of an epoch, and mounts the overlay. */
export async function makeOverlay(
  deps: Pick<Deps, 'onPoint'>,
  { folder, owner, layer }: { folder: TreePath; owner: Owner; layer: Layer },
): Promise<void> {
  const [upper, work] = [upperOf(folder), workOf(folder)];
  mkdirSync(overlayOf(folder), { recursive: true, mode: 0o700 });
  for (const path of [upper, work]) mkdirSync(path, { mode: 0o700 });
  chownSync(upper, owner.uid, owner.gid);
  const { name, content, list } = layer;
  const record = { format: 1, layer: name, tree: content.tree, list: list.status } as const;
  writeFileSync(overlayFile(overlayOf(folder)), overlayText(record));
  makeMountPoint(folder.tree);
  deps.onPoint('layer.overlay');
  // The overlay's record now shows the use of the layer. Maintenance looks for such records before removing a layer.
  if (!existsSync(layer.root)) throw new WorkspaceError('EWORKSPACEBUSY', `The layer ${layer.path} was removed.`);
  await mountOverlay({ layer: layer.root, upper, work, target: folder.tree, owner });
  deps.onPoint('layer.mounted');
}

/** Visible in an unmounted tree. The mark also keeps a rename from replacing the mount point. */
const unmountedMark = '.not-mounted';

/** A folder closed to every user of a run while nothing is mounted. */
export function makeMountPoint(path: string): void {
  mkdirSync(path, { mode: 0o700 });
  writeFileSync(join(path, unmountedMark), 'Holdpoint mounts the files of the run here.\n', { mode: 0o600 });
  chmodSync(path, 0o000);
}
