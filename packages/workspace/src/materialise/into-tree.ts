import { mkdirSync, renameSync } from 'node:fs';
import type { Deps, Owner } from '../deps.ts';
import { openTop, setFolderOwner } from '../files/index.ts';
import { beginLayer, keepPlain, type LayerContent, makeOverlayTree, rememberRoot } from '../layers/index.ts';
import { createHead, makeTree } from '../run-folder/index.ts';
import type { Fill } from './fill.ts';
import { giveTree } from './give-tree.ts';
import type { Scanned } from './scan-unstored.ts';

/** Where the files of a source are written. */
export interface Place {
  /** An empty folder without other users. */
  readonly to: string;
  /** Undefined: the files keep the owner of this process. */
  readonly owner: Owner | undefined;
  readonly isLayer: boolean;
}

interface Written {
  readonly copied: Pick<Scanned, 'root' | 'files' | 'bytes'>;
  readonly content: LayerContent;
  /** Whether a snapshot can hold every file. */
  readonly isStored: boolean;
}

/**
 * Lets a writer write the files of a run's tree: into a layer below the tree, or, on a host with plain trees, for files impossible in a
 * layer, or for few files, into a plain folder.
 */
export async function intoTree<Result extends Written>(
  deps: Deps,
  { folder, owner, tenant }: Fill,
  write: (place: Place) => Promise<Result>,
): Promise<Result> {
  await using build = await beginLayer(deps);
  if (build === undefined) {
    const own = deps.isRoot ? owner : undefined;
    makeTree(deps, folder);
    using top = openTop(folder.tree);
    setFolderOwner(top.fd, own, 0o700);
    return await write({ to: folder.tree, owner: own, isLayer: false });
  }
  const written = await write({ to: build.root, owner: undefined, isLayer: true });
  const { copied, content, isStored } = written;
  const { files, bytes } = copied;
  if (isStored && files >= deps.layers.leastFiles) {
    const layer = await build.place({ tenant, ...content, root: copied.root, counts: { files, bytes } });
    rememberRoot(layer, copied.root);
    await makeOverlayTree(deps, { folder, owner, layer });
  } else {
    mkdirSync(`${folder.path}/trees`, { mode: 0o711 });
    renameSync(build.root, folder.tree);
    await giveTree(folder.tree, owner);
    createHead(folder, deps.holder);
    if (isStored) keepPlain(folder);
  }
  return written;
}
