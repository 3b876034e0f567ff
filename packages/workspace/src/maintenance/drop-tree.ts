import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Call, Deps } from '../deps.ts';
import { removeTree, removeTrees, retireTree } from '../drivers/trees.ts';
import { removeFolder, syncPath, writeDurably } from '../files/index.ts';
import { removeBaseObjects } from '../repository/index.ts';
import { buildTree } from '../run/take-over.ts';
import { dropMark, epochsIn, isDropped, requireRecord, runFolder } from '../run-folder/index.ts';
import { restoreSnapshot } from '../snapshots/restore.ts';

/** Whether the run has a tree. */
export const hasTree = (deps: Pick<Deps, 'dataDir'>, runId: string): boolean =>
  epochsIn(runFolder(deps.dataDir, runId).path).length > 0;

/**
 * Removes the tree of an ended run, 70 to 85 % of its space. The snapshots stay. The mark is written first: the mark reserves the epoch for
 * the tree of a later restore.
 */
export async function dropTree(deps: Deps, { runId, epoch }: Call<'dropTree'>): Promise<void> {
  const folder = runFolder(deps.dataDir, runId, epoch);
  requireRecord(folder);
  await writeDurably(dropMark(folder), '');
  deps.onPoint('drop.marked');
  const retired = join(folder.path, 'retired');
  mkdirSync(retired, { recursive: true, mode: 0o700 });
  for (const old of epochsIn(folder.path)) {
    const away = join(retired, `${old}.dropped`);
    await removeTree(away);
    const { tree, statCache } = runFolder(deps.dataDir, runId, old);
    await retireTree(tree, away);
    rmSync(statCache, { force: true });
  }
  deps.states.drop(runId);
  await syncPath(join(folder.path, 'trees'));
  deps.onPoint('drop.moved');
  await removeTrees(retired);
  await removeFolder(folder.cache);
  await removeFolder(folder.outputs);
  await removeBaseObjects(folder);
}

/** Restores the tree to a snapshot, and builds a dropped tree again. */
export async function restoreTree(deps: Deps, input: Call<'restore'>): Promise<void> {
  const folder = runFolder(deps.dataDir, input.runId, input.epoch);
  const record = requireRecord(folder);
  if (!isDropped(folder)) return restoreSnapshot(deps, input);
  await buildTree(deps, { ...input, folder, record });
  rmSync(dropMark(folder), { force: true });
}
