import { randomBytes } from 'node:crypto';
import { fchmodSync, fstatSync, mkdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join as joinPath } from 'node:path';
import type { Call, Deps } from '../deps.ts';
import type { TreePath } from '../drivers/port.ts';
import * as trees from '../drivers/trees.ts';
import { type Directory, openChain, openTop, openTree, setFolderOwner, statIn } from '../files/index.ts';
import { checkoutSnapshot, createBaseObjects } from '../repository/index.ts';
import * as folders from '../run-folder/index.ts';
import { preservedPaths } from '../snapshots/restore.ts';
import {
  type Checkout,
  fileSystemClock,
  formerTimes,
  hashOnly,
  loadRepositories,
  loadSnapshot,
  type MtimeOf,
  startScan,
} from '../tree/index.ts';

/**
 * Gives the run a new tree at a snapshot. The previous worker may only be frozen and still hold descriptors and paths of an older tree. So
 * older trees are moved away first, to keep the worker from starting anything inside, and the new tree shares nothing with them. Skipped
 * paths, missing in every snapshot, are moved over from the previous tree.
 */
export async function takeOver(deps: Deps, input: Call<'takeOver'>): Promise<void> {
  const folder = folders.runFolder(deps.dataDir, input.runId, input.epoch);
  const record = folders.requireRecord(folder);
  assertNewer(folder);
  const latest = folders.epochsIn(folder.path).at(-1);
  const former = latest === undefined ? undefined : folders.folderAt(folder.path, folder.runId, latest);
  const retired = await retire(folder);
  deps.onPoint('take-over.retired');
  await buildTree(deps, { ...input, folder, record, before: retired.at(-1), former, check: () => assertNewer(folder) });
  folders.assertCurrent(folder);
  await removeRetired(deps, folder);
}

/** Builds the folder's tree at a snapshot aside, and renames the tree into place. */
export async function buildTree(
  deps: Deps,
  input: Call<'takeOver'> & {
    folder: folders.RunFolder;
    record: folders.WorkspaceRecord;
    before?: TreePath;
    /** Whose times its files keep. */
    former?: folders.RunFolder | undefined;
    check?: () => void;
  },
): Promise<void> {
  const aside = folders.asideOf(input.folder, nonce());
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
    await trees.removeTree(aside);
    rmdirSync(dirname(aside));
  } catch {
    // The next take-over, or the end of the run, removes the rest.
  }
}

async function buildAside(deps: Deps, input: Parameters<typeof buildTree>[1] & { aside: string }): Promise<void> {
  const { folder, before, aside } = input;
  const place = { ...folder, tree: aside };
  const mtimeOf = formerTimes(input.former);
  await fillTree(deps, { ...input, folder: place, near: before, mtimeOf });
  const skipped = before === undefined ? [] : await skippedIn(deps, { ...input, folder, from: before, to: place });
  // The folder of the run's writes must not change while the tree is in use.
  if (skipped.length > 0) await trees.releaseTrees(aside);
  if (before !== undefined) moveEntries(before, place, skipped);
  deps.onPoint('take-over.grown');
  input.check?.();
  const finish = await trees.placeTree(place, folder);
  folders.createHead(folder, deps.holder);
  deps.states.drop(input.runId);
  deps.onPoint('take-over.placed');
  await finish();
  await trees.useTree(deps, folder);
}

const nonce = (): string => `${process.pid}-${randomBytes(6).toString('hex')}`;

/** Epochs only rise: a caller with an old epoch was frozen, or has lost the race. */
function assertNewer(folder: folders.RunFolder): void {
  if (folders.highestEpoch(folder.path) >= folder.epoch) throw folders.staleLease(folder);
}

/** Moves every older tree away. @returns their new places, the newest last */
async function retire(folder: folders.RunFolder): Promise<TreePath[]> {
  const away = joinPath(folder.path, 'retired');
  mkdirSync(away, { recursive: true, mode: 0o700 });
  const retired: TreePath[] = [];
  for (const epoch of folders.epochsIn(folder.path)) {
    const { tree } = folders.folderAt(folder.path, folder.runId, epoch);
    const to = joinPath(away, `${epoch}.${nonce()}`);
    // Another process is taking over, too: the higher epoch wins.
    if (await trees.retireTree(tree, to)) retired.push({ tree: to });
  }
  return retired;
}

async function fillTree(
  deps: Deps,
  input: Call<'takeOver'> & {
    folder: folders.RunFolder;
    record: folders.WorkspaceRecord;
    near: TreePath | undefined;
    mtimeOf: MtimeOf;
  },
): Promise<void> {
  const { folder, record, snapshot, near, signal } = input;
  const owner = deps.isRoot ? record.owner : undefined;
  const state = deps.states.of(folder);
  const target = await loadSnapshot(deps, { folder, state, id: snapshot });
  const { known } = await trees.makeTree(deps, { folder, record, owner: record.owner, state, target, near, signal });
  using top = openTop(folder.tree);
  setFolderOwner(top.fd, owner, 0o700);
  const checkout = {
    ...{ git: deps.git, scan: startScan(deps, { folder, state, content: hashOnly, signal }) },
    ...{ gitDir: folder.shadow, tree: folder.tree, owner, keep: () => false },
    clock: () => fileSystemClock(folder),
    mtimeOf: input.mtimeOf,
    ...{ known, signal },
  };
  await checkoutSnapshot(deps, { checkout, folder, state, target });
  const repositories = await loadRepositories(deps, { folder, state, snapshot: target });
  if (repositories !== undefined) {
    const { source, owner } = record;
    await createBaseObjects(deps, { folder, source, owner, baseCommit: repositories.baseCommit, signal });
  }
  await state.stats.save(state.known);
}

/** The skipped paths of the old tree with a free place and an existing folder in the new tree. */
async function skippedIn(
  deps: Deps,
  input: { folder: folders.RunFolder; record: folders.WorkspaceRecord; snapshot: string; from: TreePath; to: TreePath },
): Promise<string[]> {
  const { folder, snapshot } = input;
  const target = await loadSnapshot(deps, { folder, state: deps.states.of(folder), id: snapshot });
  const { paths, keep } = await preservedPaths(deps, { ...input, target });
  using from = openTree(trees.writesOf(input.from));
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
  // Makes the folder one of the run's own writes.
  fchmodSync(target.fd, Number(fstatSync(target.fd).mode & 0o777));
  return true;
}

function moveEntries(from: TreePath, to: TreePath, paths: readonly string[]): void {
  if (paths.length === 0) return;
  using fromTop = openTree(trees.writesOf(from));
  using toTop = openTree(trees.writesOf(to));
  for (const path of paths) {
    const names = path.split('/');
    const name = names.pop() ?? '';
    using source = openChain(fromTop, names);
    using target = openChain(toTop, names);
    if (!source || !target) continue;
    // A device of this name may mark a removed file.
    rmSync(target.at(name), { force: true });
    renameSync(source.at(name), target.at(name));
  }
}

/** A frozen worker may still write there and make the removal fail: the next take-over, or the end of the run, removes the rest. */
async function removeRetired(deps: Deps, folder: folders.RunFolder): Promise<void> {
  try {
    await trees.removeTrees(joinPath(folder.path, 'retired'));
  } catch (error) {
    deps.logger.warn({ run_id: folder.runId, err: error }, 'failed to remove retired trees, will retry');
  }
}
