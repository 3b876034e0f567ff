import type { Deps, RunFolder } from '../../deps.ts';
import type { Folder } from '../../store/objects/index.ts';
import { addEmptyFolder, loadTree, type SnapshotCache } from '../../tree/index.ts';
import type { Layer } from './layer.ts';

/** The layers used last in this process: a tree of 10,000 files takes 3 MB. */
const maxRoots = 4;
const roots = new Map<string, Folder>();

/** The files of a layer, as git trees. The repository of every run with this layer has them. */
export async function layerRoot(
  deps: Pick<Deps, 'git'>,
  { folder, state, layer }: { folder: RunFolder; state: SnapshotCache; layer: Layer },
): Promise<Folder> {
  const root = roots.get(layer.path) ?? (await load(deps, { folder, state, layer }));
  roots.delete(layer.path);
  roots.set(layer.path, root);
  for (const oldest of roots.keys()) {
    if (roots.size <= maxRoots) break;
    roots.delete(oldest);
  }
  return root;
}

/** Keeps the tree of a layer just made by this process. */
export function rememberRoot({ path }: Layer, root: Folder): void {
  roots.set(path, root);
}

async function load(
  deps: Pick<Deps, 'git'>,
  { folder, state, layer }: { folder: RunFolder; state: SnapshotCache; layer: Layer },
): Promise<Folder> {
  const { tree, empty } = layer.content;
  const { root } = await loadTree(deps, { folder, state, treeish: tree });
  for (const path of empty) addEmptyFolder(root, path.split('/'));
  return root;
}
