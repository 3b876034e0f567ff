import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import { type Call, type Deps, errnoOf } from './deps.ts';
import { type Directory, openChain, openTop, openTree, removeFolder, setFolderOwner, statIn } from './files/index.ts';
import { checkoutSnapshot, createBaseObjects, loadRepositories } from './repository/index.ts';
import { preservedPaths } from './restore.ts';
import {
  assertCurrent,
  createHead,
  epochsIn,
  highestEpoch,
  type RunFolder,
  requireRecord,
  runFolder,
  staleLease,
  type WorkspaceRecord,
} from './run/index.ts';
import { startScan } from './snapshot.ts';
import { type Checkout, fileSystemClock, hashOnly, loadSnapshot } from './tree/index.ts';

/**
 * Gives the run a new tree at a snapshot. The previous worker may only be frozen and still hold descriptors and paths of an older tree. So
 * older trees are moved away first, which keeps the worker from starting anything in them, and the new tree shares nothing with them.
 * Skipped paths, which no snapshot holds, are moved over from the previous tree.
 */
export async function takeOver(deps: Deps, input: Call<'takeOver'>): Promise<void> {
  const folder = runFolder(deps.dataDir, input.runId, input.epoch);
  const record = requireRecord(folder);
  assertNewer(folder);
  const retired = retire(folder);
  deps.onPoint('take-over.retired');
  await buildTree(deps, { ...input, folder, record, before: retired.at(-1), check: () => assertNewer(folder) });
  assertCurrent(folder);
  await removeRetired(deps, folder);
}

/** Builds the folder's tree at a snapshot aside, and renames it into place. */
export async function buildTree(
  deps: Deps,
  input: Call<'takeOver'> & { folder: RunFolder; record: WorkspaceRecord; before?: string; check?: () => void },
): Promise<void> {
  const { folder, record, before } = input;
  const aside = joinPath(folder.path, 'retired', `${input.epoch}.new-${nonce()}`);
  mkdirSync(aside, { recursive: true, mode: 0o700 });
  deps.states.drop(input.runId);
  await fillTree(deps, { ...input, folder: { ...folder, tree: aside }, record, before });
  deps.onPoint('take-over.grown');
  input.check?.();
  renameSync(aside, folder.tree);
  createHead(folder, deps.holder);
  deps.states.drop(input.runId);
  deps.onPoint('take-over.placed');
}

const nonce = (): string => `${process.pid}-${randomBytes(6).toString('hex')}`;

/** Epochs only rise: a caller with an old one was frozen, or has lost the race. */
function assertNewer(folder: RunFolder): void {
  if (highestEpoch(folder.path) >= folder.epoch) throw staleLease(folder);
}

/** Moves every older tree away. @returns their new paths, the newest last */
function retire(folder: RunFolder): string[] {
  const away = joinPath(folder.path, 'retired');
  mkdirSync(away, { recursive: true, mode: 0o700 });
  return epochsIn(folder.path).flatMap((epoch) => {
    const to = joinPath(away, `${epoch}.${nonce()}`);
    try {
      renameSync(joinPath(folder.path, 'trees', String(epoch)), to);
      return [to];
    } catch (error) {
      // Another process is taking over, too: the higher epoch wins.
      if (errnoOf(error) === 'ENOENT') return [];
      throw error;
    }
  });
}

async function fillTree(
  deps: Deps,
  input: Call<'takeOver'> & { folder: RunFolder; record: WorkspaceRecord; before?: string },
): Promise<void> {
  const { folder, record, snapshot, before, signal } = input;
  const owner = deps.isRoot ? record.owner : undefined;
  using top = openTop(folder.tree);
  setFolderOwner(top.fd, owner, 0o700);
  const state = deps.states.of(folder);
  const target = await loadSnapshot(deps, { folder, state, id: snapshot });
  const checkout = {
    ...{ git: deps.git, scan: startScan(deps, { folder, state, content: hashOnly, signal }) },
    ...{ gitDir: folder.shadow, tree: folder.tree, owner, keep: () => false },
    clock: () => fileSystemClock(folder),
    signal,
  };
  await checkoutSnapshot(deps, { checkout, folder, state, target });
  const repositories = await loadRepositories(deps, { folder, state, snapshot: target });
  if (repositories !== undefined) {
    await createBaseObjects(deps, { folder, owner: record.owner, baseCommit: repositories.baseCommit, signal });
  }
  await state.stats.save(state.known);
  if (before === undefined) return;
  const { paths, keep } = await preservedPaths(deps, { folder, record, target });
  using old = openTree(before);
  for (const path of paths) moveEntry(old, top, path, keep);
}

/** Moves an entry of the old tree if its folder exists in the new tree and the path is free there. */
function moveEntry(from: Directory, to: Directory, path: string, keep: Checkout['keep']): void {
  const names = path.split('/');
  const name = names.pop() ?? '';
  using source = openChain(from, names);
  using target = openChain(to, names);
  const status = source && statIn(source, name);
  if (!source || !target || status === undefined || !keep(path, status)) return;
  if (statIn(target, name) === undefined) renameSync(source.at(name), target.at(name));
}

/** A frozen worker may still write there and make the removal fail: the next take-over, or the end of the run, removes the rest. */
async function removeRetired(deps: Deps, folder: RunFolder): Promise<void> {
  try {
    await removeFolder(joinPath(folder.path, 'retired'));
  } catch (error) {
    deps.logger.warn({ run_id: folder.runId, err: error }, 'failed to remove retired trees, will retry');
  }
}
