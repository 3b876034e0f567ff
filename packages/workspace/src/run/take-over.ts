import { randomBytes } from 'node:crypto';
import { existsSync, fchmodSync, fstatSync, mkdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join as joinPath } from 'node:path';
import type { Call, Deps } from '../deps.ts';
import { type Directory, openChain, openTop, openTree, setFolderOwner, statIn } from '../files/index.ts';
import {
  asideOf,
  formerLayer,
  isMountPoint,
  knownTree,
  type Layer,
  layerRoot,
  makeMountPoint,
  makeOverlay,
  mountedTree,
  moveMount,
  removeTrees,
  renameTree,
  unmountIn,
  upperOf,
} from '../layers/index.ts';
import { checkoutSnapshot, createBaseObjects } from '../repository/index.ts';
import {
  assertCurrent,
  createHead,
  epochsIn,
  folderAt,
  highestEpoch,
  type RunFolder,
  requireRecord,
  runFolder,
  staleLease,
  type WorkspaceRecord,
} from '../run-folder/index.ts';
import { preservedPaths } from '../snapshots/restore.ts';
import { startScan } from '../snapshots/snapshot.ts';
import {
  type Checkout,
  fileSystemClock,
  formerTimes,
  hashOnly,
  type KnownTree,
  type LoadedSnapshot,
  loadRepositories,
  loadSnapshot,
  type MtimeOf,
  type RunState,
} from '../tree/index.ts';
import { chooseLayer } from './choose-layer.ts';

/**
 * Gives the run a new tree at a snapshot. The previous worker may only be frozen and still hold descriptors and paths of an older tree. So
 * older trees are moved away first, to keep the worker from starting anything inside, and the new tree shares nothing with them. Skipped
 * paths, missing in every snapshot, are moved over from the previous tree.
 */
export async function takeOver(deps: Deps, input: Call<'takeOver'>): Promise<void> {
  const folder = runFolder(deps.dataDir, input.runId, input.epoch);
  const record = requireRecord(folder);
  assertNewer(folder);
  const latest = epochsIn(folder.path).at(-1);
  const former = latest === undefined ? undefined : folderAt(folder.path, folder.runId, latest);
  const retired = await retire(folder);
  deps.onPoint('take-over.retired');
  await buildTree(deps, { ...input, folder, record, before: retired.at(-1), former, check: () => assertNewer(folder) });
  assertCurrent(folder);
  await removeRetired(deps, folder);
}

/** Builds the folder's tree at a snapshot aside, and renames the tree into place. */
export async function buildTree(
  deps: Deps,
  input: Call<'takeOver'> & {
    folder: RunFolder;
    record: WorkspaceRecord;
    before?: TreePlace;
    /** Whose times its files keep. */
    former?: RunFolder | undefined;
    check?: () => void;
  },
): Promise<void> {
  const aside = asideOf(input.folder, nonce());
  mkdirSync(dirname(aside), { recursive: true, mode: 0o700 });
  deps.states.drop(input.runId);
  try {
    await buildAside(deps, { ...input, aside });
  } catch (error) {
    await removeUnfinished(aside);
    throw error;
  }
}

/** A faster take-over may have removed its retired trees before this take-over's last write there. */
async function removeUnfinished(aside: string): Promise<void> {
  try {
    for (const path of [aside, pointOf(aside), overlayOf(aside)]) await removeTrees(path);
    rmdirSync(dirname(aside));
  } catch {
    // The next take-over, or the end of the run, removes the rest.
  }
}

async function buildAside(deps: Deps, input: Parameters<typeof buildTree>[1] & { aside: string }): Promise<void> {
  const { folder, before, aside } = input;
  const place = { ...folder, tree: aside, overlay: overlayOf(aside) };
  const mtimeOf = formerTimes(input.former);
  const layer = await fillTree(deps, { ...input, folder: place, near: before && formerLayer(before), mtimeOf });
  const skipped = before === undefined ? [] : await skippedIn(deps, { ...input, folder, from: before, to: place });
  // They are moved into the upper folder. The upper folder must not change while mounted.
  if (skipped.length > 0) await unmountIn(aside);
  if (before !== undefined) moveEntries(before, place, skipped);
  deps.onPoint('take-over.grown');
  input.check?.();
  if (layer !== undefined) await placeOverlay(place, folder);
  const isMounted = isMountPoint(aside);
  if (isMounted) makeMountPoint(pointOf(aside));
  renameSync(isMounted ? pointOf(aside) : aside, folder.tree);
  createHead(folder, deps.holder);
  deps.states.drop(input.runId);
  deps.onPoint('take-over.placed');
  if (isMounted) await moveMount(aside, folder.tree).catch(() => {});
  // Mounts the tree after a failed mount.
  await mountedTree(deps, folder);
}

/** The place of a tree's files: for a tree on a layer, the run's writes lie in its overlay. */
type TreePlace = Pick<RunFolder, 'tree' | 'overlay'>;

/** The mount point of a tree in use: the mount point of its build cannot be renamed. */
const pointOf = (aside: string): string => `${aside}.point`;

/** Trees out of use have their overlay next to them. */
const overlayOf = (tree: string): string => `${tree}.overlay`;

/** The tree has no mount point yet, so the tree is out of use until the caller makes a mount point. */
async function placeOverlay(from: TreePlace, to: RunFolder): Promise<void> {
  mkdirSync(dirname(to.overlay), { recursive: true, mode: 0o700 });
  await removeTrees(to.overlay);
  renameSync(from.overlay, to.overlay);
}

const nonce = (): string => `${process.pid}-${randomBytes(6).toString('hex')}`;

/** Epochs only rise: a caller with an old epoch was frozen, or has lost the race. */
function assertNewer(folder: RunFolder): void {
  if (highestEpoch(folder.path) >= folder.epoch) throw staleLease(folder);
}

/** Moves every older tree away. @returns their new places, the newest last */
async function retire(folder: RunFolder): Promise<TreePlace[]> {
  const away = joinPath(folder.path, 'retired');
  mkdirSync(away, { recursive: true, mode: 0o700 });
  const retired: TreePlace[] = [];
  for (const epoch of epochsIn(folder.path)) {
    const { tree, overlay } = folderAt(folder.path, folder.runId, epoch);
    const to = joinPath(away, `${epoch}.${nonce()}`);
    // Another process is taking over, too: the higher epoch wins.
    if (!(await renameTree(tree, to))) continue;
    await renameTree(overlay, overlayOf(to));
    retired.push({ tree: to, overlay: overlayOf(to) });
  }
  return retired;
}

async function fillTree(
  deps: Deps,
  input: Call<'takeOver'> & {
    folder: RunFolder;
    record: WorkspaceRecord;
    near: string | undefined;
    mtimeOf: MtimeOf;
  },
): Promise<Layer | undefined> {
  const { folder, record, snapshot, near, signal } = input;
  const owner = deps.isRoot ? record.owner : undefined;
  const state = deps.states.of(folder);
  const target = await loadSnapshot(deps, { folder, state, id: snapshot });
  const layer = await chooseLayer(deps, { folder, record, state, target, near, signal });
  if (layer === undefined) mkdirSync(folder.tree, { mode: 0o700 });
  else await makeOverlay(deps, { folder, owner: record.owner, layer });
  using top = openTop(folder.tree);
  setFolderOwner(top.fd, owner, 0o700);
  const checkout = {
    ...{ git: deps.git, scan: startScan(deps, { folder, state, content: hashOnly, signal }) },
    ...{ gitDir: folder.shadow, tree: folder.tree, owner, keep: () => false },
    clock: () => fileSystemClock(folder),
    mtimeOf: input.mtimeOf,
    known: layer && (await knownLayer(deps, { folder, state, target, layer })),
    signal,
  };
  await checkoutSnapshot(deps, { checkout, folder, state, target });
  const repositories = await loadRepositories(deps, { folder, state, snapshot: target });
  if (repositories !== undefined) {
    const { source, owner } = record;
    await createBaseObjects(deps, { folder, source, owner, baseCommit: repositories.baseCommit, signal });
  }
  await state.stats.save(state.known);
  return layer;
}

/** The content of a new tree on a layer. */
export async function knownLayer(
  deps: Deps,
  input: { folder: RunFolder; state: RunState; target: LoadedSnapshot; layer: Layer },
): Promise<KnownTree | undefined> {
  const { permissions } = input.layer.content;
  return knownTree({ root: await layerRoot(deps, input), permissions, unsure: [] }, input.target.manifest.permissions);
}

/** Where the skipped paths of a tree are: a layer holds none, so a tree on a layer has all of them in its upper folder. */
const writtenIn = (place: TreePlace): string => (existsSync(place.overlay) ? upperOf(place) : place.tree);

/** The skipped paths of the old tree with a free place and an existing folder in the new tree. */
async function skippedIn(
  deps: Deps,
  input: { folder: RunFolder; record: WorkspaceRecord; snapshot: string; from: TreePlace; to: TreePlace },
): Promise<string[]> {
  const { folder, snapshot } = input;
  const target = await loadSnapshot(deps, { folder, state: deps.states.of(folder), id: snapshot });
  const { paths, keep } = await preservedPaths(deps, { ...input, target });
  using from = openTree(writtenIn(input.from));
  using to = openTree(input.to.tree);
  return paths.filter((path) => isFree({ from, to, path, keep }));
}

function isFree({ from, to, path, keep }: { from: Directory; to: Directory; path: string; keep: Checkout['keep'] }) {
  const names = path.split('/');
  const name = names.pop() ?? '';
  using source = openChain(from, names);
  using target = openChain(to, names);
  const status = source && statIn(source, name);
  if (!target || status === undefined || !keep(path, status) || statIn(target, name) !== undefined) return false;
  // Copies the folder from the layer to the upper folder.
  fchmodSync(target.fd, Number(fstatSync(target.fd).mode & 0o777));
  return true;
}

function moveEntries(from: TreePlace, to: TreePlace, paths: readonly string[]): void {
  if (paths.length === 0) return;
  using fromTop = openTree(writtenIn(from));
  using toTop = openTree(writtenIn(to));
  for (const path of paths) {
    const names = path.split('/');
    const name = names.pop() ?? '';
    using source = openChain(fromTop, names);
    using target = openChain(toTop, names);
    if (!source || !target) continue;
    // An upper folder marks a removed file of the layer with a device of this name.
    rmSync(target.at(name), { force: true });
    renameSync(source.at(name), target.at(name));
  }
}

/** A frozen worker may still write there and make the removal fail: the next take-over, or the end of the run, removes the rest. */
async function removeRetired(deps: Deps, folder: RunFolder): Promise<void> {
  try {
    await removeTrees(joinPath(folder.path, 'retired'));
  } catch (error) {
    deps.logger.warn({ run_id: folder.runId, err: error }, 'failed to remove retired trees, will retry');
  }
}
