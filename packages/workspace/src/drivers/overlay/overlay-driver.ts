import { existsSync, lstatSync, mkdirSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Deps, RunFolder } from '../../deps.ts';
import { fromPlain } from '../../files/index.ts';
import { createHead } from '../../run-folder/index.ts';
import { changesBetween, countChanges } from '../../store/objects/index.ts';
import { knownRoot, knownTree } from '../../tree/index.ts';
import { giveTree } from '../copy/give-tree.ts';
import type { Counted, FillInput, MakeInput, NewTree, TreeDriver, TreePath, Written } from '../port.ts';
import { boundMounts } from './bound-mounts.ts';
import { beginLayer } from './build-layer.ts';
import { chooseLayer } from './choose-layer.ts';
import { findLayer } from './find-layer.ts';
import type { Layer } from './layer.ts';
import { layerRoot, rememberRoot } from './layer-root.ts';
import { makeMountPoint, makeOverlay, makeOverlayTree } from './make-overlay.ts';
import { mountedTree, openMounted } from './mounted-tree.ts';
import { isMountPoint, keepPlain, moveMount, overlayOf, staysPlain, upperOf } from './mounts.ts';
import { readTree } from './read-tree.ts';
import { pointOf, removeTrees } from './remove-trees.ts';

/** A tree is an overlay of the run's writes over files that runs share: a layer. */
export const overlayDriver: TreeDriver = {
  use: async (deps, folder) => {
    const layer = await mountedTree(deps, folder);
    if (layer === undefined) return undefined;
    return {
      open: () => openMounted(folder, layer),
      scan: (input, previous) => readTree(deps, { ...input, folder, layer }, previous),
      scansWrites: true,
      takesFolders: false,
    };
  },
  make: makeOverLayer,
  fill: fillLayer,
  find: async (deps, content) => {
    const layer = await findLayer(deps, content);
    if (layer === undefined) return undefined;
    return {
      makeTree: async ({ folder, owner, root }) => {
        rememberRoot(layer, root);
        await makeOverlayTree(deps, { folder, owner, layer });
      },
    };
  },
  writesOf: (tree) => (existsSync(overlayOf(tree)) ? upperOf(tree) : undefined),
  place,
};

async function makeOverLayer(deps: Deps, input: MakeInput): Promise<NewTree | undefined> {
  const { folder, owner, origin, state, target } = input;
  if (origin !== undefined && staysPlain(origin)) keepPlain(folder);
  const layer = await chooseLayer(deps, input);
  if (layer === undefined) return undefined;
  await makeOverlay(deps, { folder, owner, layer });
  await boundMounts(deps);
  const root = await layerRoot(deps, { folder, state, layer });
  const { permissions } = layer.content;
  return {
    known: knownTree({ root, permissions, unsure: [] }, target.manifest.permissions),
    count: async () => countFiles(layer, { before: root, after: knownRoot(target) }),
  };
}

/** All files, the bytes of the layer's files kept by the target, and the paths of the others. */
function countFiles(
  layer: Layer,
  { before, after }: Record<'before' | 'after', Parameters<typeof changesBetween>[0]>,
): Counted {
  let { bytes } = layer.counts;
  const changes = changesBetween(before, after);
  for (const { path, old } of changes) {
    const at = Buffer.from(`${fromPlain(layer.root)}/${path}`, 'latin1');
    if (old !== null) bytes -= lstatSync(at, { throwIfNoEntry: false })?.size ?? 0;
  }
  return { files: countChanges(undefined, after), bytes, changed: new Set(changes.map(({ path }) => path)) };
}

/** Files impossible in a layer, and few files, become a plain folder. */
async function fillLayer<Result extends Written>(
  deps: Deps,
  { folder, owner, tenant, write }: FillInput<Result>,
): Promise<Result | undefined> {
  await using build = await beginLayer(deps);
  if (build === undefined) return undefined;
  const written = await write({ to: build.root, owner: undefined, isShared: true });
  const { copied, content, isStored } = written;
  const { root, files, bytes } = copied;
  if (isStored && files >= deps.sharing.leastFiles) {
    const layer = await build.place({ tenant, ...content, root, counts: { files, bytes } });
    rememberRoot(layer, root);
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

/** The tree has no mount point at its place yet, so the tree is out of use until the rename. */
async function place(from: TreePath, to: RunFolder): Promise<(() => Promise<void>) | undefined> {
  if (!existsSync(overlayOf(from))) return undefined;
  mkdirSync(dirname(overlayOf(to)), { recursive: true, mode: 0o700 });
  await removeTrees(overlayOf(to));
  renameSync(overlayOf(from), overlayOf(to));
  const isMounted = isMountPoint(from.tree);
  if (isMounted) makeMountPoint(pointOf(from.tree));
  renameSync(isMounted ? pointOf(from.tree) : from.tree, to.tree);
  // The next use mounts the tree after a failed move.
  return async () => {
    if (isMounted) await moveMount(from.tree, to.tree).catch(() => {});
  };
}
