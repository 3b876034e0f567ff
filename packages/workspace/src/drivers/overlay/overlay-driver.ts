import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Deps, type Owner, type RunFolder, WorkspaceError } from '../../deps.ts';
import { type Directory, fromPlain } from '../../files/index.ts';
import { createHead } from '../../run-folder/index.ts';
import { noteUse } from '../../store/keyed/index.ts';
import { changesBetween, countChanges, type Entry, type Folder } from '../../store/objects/index.ts';
import * as trees from '../../tree/index.ts';
import { giveTree } from '../copy/give-tree.ts';
import type { Counted, FillInput, MakeInput, NewTree, TreeDriver, TreePath, Written } from '../port.ts';
import { beginLayer } from './build-layer.ts';
import { describeDamage, dropLayer, recentLayer } from './check-layer.ts';
import { type Layer, type LayerContent, layerKey, layerKind, layerRoot, rememberRoot, tenantFolder } from './layer.ts';
import { mountedTree, openMounted } from './mounted-tree.ts';
import * as mounts from './mounts.ts';
import { scanOverlay } from './scan-overlay.ts';

/**
 * Makes the tree of a new run: an overlay of the run over a layer, mounted at the return. The caller writes `.git` into the tree. The run's
 * folder may be renamed with the mount inside.
 */
async function makeOverlayTree(deps: Deps, input: { folder: RunFolder; owner: Owner; layer: Layer }): Promise<void> {
  const { folder } = input;
  mkdirSync(join(folder.path, 'trees'), { recursive: true, mode: 0o711 });
  await makeOverlay(deps, input);
  createHead(folder, deps.holder);
  await mounts.boundMounts(deps);
}

/** Makes the overlay and the mount point of an epoch, and mounts the overlay. */
async function makeOverlay(
  deps: Pick<Deps, 'onPoint'>,
  { folder, owner, layer }: { folder: TreePath; owner: Owner; layer: Layer },
): Promise<void> {
  const [upper, work] = [mounts.upperOf(folder), mounts.workOf(folder)];
  mkdirSync(mounts.overlayOf(folder), { recursive: true, mode: 0o700 });
  for (const path of [upper, work]) mkdirSync(path, { mode: 0o700 });
  chownSync(upper, owner.uid, owner.gid);
  const { name, content, list } = layer;
  const record = { format: 1, layer: name, tree: content.tree, list: list.status } as const;
  writeFileSync(mounts.overlayFile(mounts.overlayOf(folder)), mounts.overlayText(record));
  makeMountPoint(folder.tree);
  deps.onPoint('layer.overlay');
  // The overlay's record now shows the use of the layer. Maintenance looks for such records before removing a layer.
  if (!existsSync(layer.root)) throw new WorkspaceError('EWORKSPACEBUSY', `The layer ${layer.path} was removed.`);
  await mounts.mountOverlay({ layer: layer.root, upper, work, target: folder.tree, owner });
  deps.onPoint('layer.mounted');
}

/** Visible in an unmounted tree. The mark also keeps a rename from replacing the mount point. */
const unmountedMark = '.not-mounted';

/** A folder closed to every user of a run while nothing is mounted. */
function makeMountPoint(path: string): void {
  mkdirSync(path, { mode: 0o700 });
  writeFileSync(join(path, unmountedMark), 'Holdpoint mounts the files of the run here.\n', { mode: 0o600 });
  chmodSync(path, 0o000);
}

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
  writesOf: (tree) => (existsSync(mounts.overlayOf(tree)) ? mounts.upperOf(tree) : undefined),
  place,
};

async function makeOverLayer(deps: Deps, input: MakeInput): Promise<NewTree | undefined> {
  const { folder, owner, origin, state, target } = input;
  if (origin !== undefined && mounts.staysPlain(origin)) mounts.keepPlain(folder);
  const layer = await chooseLayer(deps, input);
  if (layer === undefined) return undefined;
  await makeOverlay(deps, { folder, owner, layer });
  await mounts.boundMounts(deps);
  const root = await layerRoot(deps, { folder, state, layer });
  const { permissions } = layer.content;
  return {
    known: trees.knownTree({ root, permissions, unsure: [] }, target.manifest.permissions),
    count: async () => countFiles(layer, { before: root, after: trees.knownRoot(target) }),
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
    if (isStored) mounts.keepPlain(folder);
  }
  return written;
}

/** The tree has no mount point at its place yet, so the tree is out of use until the rename. */
async function place(from: TreePath, to: RunFolder): Promise<(() => Promise<void>) | undefined> {
  if (!existsSync(mounts.overlayOf(from))) return undefined;
  mkdirSync(dirname(mounts.overlayOf(to)), { recursive: true, mode: 0o700 });
  await mounts.removeTrees(mounts.overlayOf(to));
  renameSync(mounts.overlayOf(from), mounts.overlayOf(to));
  const isMounted = mounts.isMountPoint(from.tree);
  if (isMounted) makeMountPoint(mounts.pointOf(from.tree));
  renameSync(isMounted ? mounts.pointOf(from.tree) : from.tree, to.tree);
  // The next use mounts the tree after a failed move.
  return async () => {
    if (isMounted) await mounts.moveMount(from.tree, to.tree).catch(() => {});
  };
}

/**
 * The layer below a new tree at a snapshot; undefined when the trees of this host, or of this run, are plain folders. The layer of the
 * former tree, else the source's layer, else a layer made of the snapshot.
 */
async function chooseLayer(deps: Deps, input: MakeInput): Promise<Layer | undefined> {
  const { folder, record, state, target, near } = input;
  if (mounts.staysPlain(folder) || !(await deps.sharing.usable())) return undefined;
  const name = near && mounts.formerLayer(mounts.overlayOf(near));
  const former = name === undefined ? undefined : await takeLayer(deps, name);
  if (former !== undefined) return former;
  const { tenant } = record;
  const base = record.base === target.id ? target : await trees.loadSnapshot(deps, { folder, state, id: record.base });
  const content = trees.contentOf(base);
  return (content && (await findLayer(deps, { ...content, tenant }))) ?? (await makeLayer(deps, input));
}

/** A run may have written the files, so only runs with the same base stand on the layer. */
async function makeLayer(deps: Deps, input: MakeInput): Promise<Layer | undefined> {
  const { folder, record, state, target, signal } = input;
  const { tenant } = record;
  const plain = trees.contentOf(target);
  if (plain === undefined) return undefined;
  const content = { ...plain, tenant, salt: record.base };
  const there = await findLayer(deps, content);
  if (there !== undefined) return there;
  await using build = await beginLayer(deps);
  if (build === undefined) return undefined;
  const counts = { files: 0, bytes: 0 };
  const at = { ...folder, tree: build.root };
  await trees.checkoutTree(
    {
      ...{
        git: deps.git,
        scan: trees.startScan(deps, { folder: at, state, content: trees.hashOnly, learn: false, signal }),
      },
      ...{ gitDir: folder.shadow, tree: build.root, owner: undefined, keep: () => false, signal },
      clock: () => trees.fileSystemClock(folder),
      permissions: target.manifest.permissions,
      onWritten: (bytes) => {
        counts.files += 1;
        counts.bytes += bytes;
      },
    },
    target.root,
  );
  const layer = await build.place({ ...content, root: target.root, counts });
  rememberRoot(layer, target.root);
  return layer;
}

/**
 * Reads a whole tree: of a tree on a layer, only the run's writes. Losses and gains of the layer are not the run's work, so the result has
 * such paths in the layer's original form, and the layer is set aside.
 */
async function readTree(
  deps: Deps,
  input: { folder: RunFolder; state: trees.SnapshotCache; scan: trees.Scan; top: Directory; layer: Layer | undefined },
  previous: Entry | undefined,
): Promise<Folder> {
  const { folder, scan, top, layer } = input;
  if (layer === undefined) return trees.scanChildren(scan, top, '', previous);
  const base = await layerRoot(deps, { ...input, layer });
  const damaged = new Set<string>();
  const root = await scanOverlay(scan, { top, upper: mounts.upperOf(folder), layer, base, damaged }, previous);
  // The next use of the tree finds the layer gone, so a new tree is built.
  if (damaged.size > 0) dropLayer(deps, layer, describeDamage([...damaged].sort()));
  return root;
}

/** The layer of a tenant with this content; undefined when there is none, or when the trees of this host are plain folders. */
async function findLayer(
  deps: Deps,
  { tenant, ...content }: LayerContent & { tenant: string | undefined },
): Promise<Layer | undefined> {
  if (!(await deps.sharing.usable())) return undefined;
  return takeLayer(deps, `${tenantFolder(tenant)}/${layerKey(content)}`);
}

/** A layer by its name, unless gone or damaged. */
export async function takeLayer(deps: Deps, name: string): Promise<Layer | undefined> {
  const layer = await recentLayer(deps, name);
  return layer === undefined || !noteUse(deps, layerKind, layer.path) ? undefined : layer;
}
