import type { Deps, RunFolder } from '../deps.ts';
import type { Directory } from '../files/index.ts';
import type { Entry, Folder } from '../store/objects/index.ts';
import { type KnownTree, type Permissions, type Scan, type SnapshotCache, scanChildren } from '../tree/index.ts';
import { describeDamage, dropLayer } from './check-layer.ts';
import type { Layer } from './layer.ts';
import { layerRoot } from './layer-root.ts';
import { upperOf } from './overlay-record.ts';
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

/** The known content of a tree, for a checkout of a target with these permissions. */
export function knownTree(
  found: { root: Folder; permissions: Permissions; unsure: Iterable<string> },
  target: Permissions,
): KnownTree | undefined {
  const { usual, others } = found.permissions;
  if (usual.file !== target.usual.file || usual.executable !== target.usual.executable) return undefined;
  if (usual.folder !== target.usual.folder) return undefined;
  const unsure = new Set<string>();
  const add = (path: string) => {
    unsure.add(path);
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) unsure.add(path.slice(0, end));
  };
  for (const path of found.unsure) add(path);
  for (const path of new Set([...others.keys(), ...target.others.keys()])) {
    if (others.get(path) !== target.others.get(path)) add(path);
  }
  return { root: found.root, isUnsure: (path) => unsure.has(path) };
}
