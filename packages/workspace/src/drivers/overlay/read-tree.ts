import type { Deps, RunFolder } from '../../deps.ts';
import type { Directory } from '../../files/index.ts';
import type { Entry, Folder } from '../../store/objects/index.ts';
import { type Scan, type SnapshotCache, scanChildren } from '../../tree/index.ts';
import { describeDamage, dropLayer } from './check-layer.ts';
import type { Layer } from './layer.ts';
import { layerRoot } from './layer-root.ts';
import { upperOf } from './mounts.ts';
import { scanOverlay } from './scan-overlay.ts';

/**
 * Reads a whole tree: of a tree on a layer, only the run's writes. Losses and gains of the layer are not the run's work, so the result has
 * such paths in the layer's original form, and the layer is set aside.
 */
export async function readTree(
  deps: Deps,
  input: { folder: RunFolder; state: SnapshotCache; scan: Scan; top: Directory; layer: Layer | undefined },
  previous: Entry | undefined,
): Promise<Folder> {
  const { folder, scan, top, layer } = input;
  if (layer === undefined) return scanChildren(scan, top, '', previous);
  const base = await layerRoot(deps, { ...input, layer });
  const damaged = new Set<string>();
  const root = await scanOverlay(scan, { top, upper: upperOf(folder), layer, base, damaged }, previous);
  // The next use of the tree finds the layer gone, so a new tree is built.
  if (damaged.size > 0) dropLayer(deps, layer, describeDamage([...damaged].sort()));
  return root;
}
