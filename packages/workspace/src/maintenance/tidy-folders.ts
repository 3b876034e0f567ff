import { mkdirSync, renameSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Deps, errnoOf, unlessMissing, WorkspaceError } from '../deps.ts';
import { releaseTrees, removeTrees, tidyTrees } from '../drivers/trees.ts';
import { removeFolder, syncPath } from '../files/index.ts';
import { removeAbandonedBuilds } from '../materialise/create-run-folder.ts';
import { evictPrepared } from '../prepared/entry.ts';
import { recoverPublish } from '../publish/directory/publish-directory.ts';
import { evictRemotes } from '../remote/fetched.ts';
import { discardingFolder, removeNow, runOf } from '../run/discard.ts';
import { isRunId, makingFolder, readRecord, runFolder, type Serial } from '../run-folder/index.ts';
import { evictSources } from '../source/pool/entry.ts';
import { trashFolder } from '../store/keyed/index.ts';

const hour = 3_600_000;

export interface TidyInput {
  isKnown: (runId: string) => Promise<boolean>;
  serial: Serial;
}

/**
 * Finishes interrupted discards, and moves folders of unknown runs to the trash: a process died between creating and recording a folder, or
 * Redis lost the run. A folder younger than an hour may be about to be recorded. All other folders stay.
 *
 * @returns the runs of the moved folders
 */
export async function tidyFolders(deps: Deps, { isKnown, serial }: TidyInput): Promise<string[]> {
  const discarding = discardingFolder(deps.dataDir);
  for (const name of await namesIn(discarding)) {
    await serial(runOf(name), () => removeNow(deps, join(discarding, name)));
  }
  const runs = join(deps.dataDir, 'runs');
  const moved: string[] = [];
  for (const runId of await runsIn(runs)) {
    const isOld = () => isOlder(deps, join(runs, runId));
    if (!(await isOld()) || (await isKnown(runId))) continue;
    // Checked again once no other call for the run is running.
    const isMoved = await serial(runId, async () => (await isOld()) && (await moveToTrash(deps, runId)));
    if (isMoved) moved.push(runId);
  }
  await emptyTrash(deps);
  await removeAbandonedBuilds(deps);
  await removeStaleBuilds(deps);
  await evictPrepared(deps);
  await evictSources(deps);
  await tidyTrees(deps);
  for (const runId of await runsIn(runs)) await serial(runId, () => removeRetired(deps, join(runs, runId, 'retired')));
  for (const name of await namesIn(join(deps.dataDir, 'git'))) {
    const path = join(deps.dataDir, 'git', name);
    if (name.startsWith('tmp-') && (await isOlder(deps, path))) await removeFolder(path);
  }
  await evictRemotes(deps);
  return moved;
}

const day = 24 * hour;

/** A builder at work for a day is frozen, or belongs to another boot or host: another process builds the run. */
async function removeStaleBuilds(deps: Deps): Promise<void> {
  const making = makingFolder(deps.dataDir);
  for (const name of await namesIn(making)) {
    if (await isOlder(deps, join(making, name), day)) await removeTrees(join(making, name));
  }
}

/** Removes retired trees left over by the worker of their take-over. */
async function removeRetired(deps: Deps, path: string): Promise<void> {
  if (!(await isOlder(deps, path))) return;
  await removeTrees(path).catch((error: unknown) =>
    deps.logger.warn({ path, err: error }, 'failed to remove retired trees'),
  );
}

async function isOlder(deps: Deps, path: string, than = hour): Promise<boolean> {
  const status = await lstat(path).catch(() => undefined);
  return status !== undefined && deps.now() - status.mtimeMs > than;
}

async function runsIn(path: string): Promise<string[]> {
  return (await namesIn(path)).filter(isRunId);
}

function namesIn(path: string): Promise<string[]> {
  return readdir(path).catch(unlessMissing([]));
}

/**
 * Moves the folder of an unknown run to the trash. Finishes an interrupted publish first, to leave the source complete.
 *
 * @returns false after a failure: the folder stays, and other folders are still processed
 */
async function moveToTrash(deps: Deps, runId: string): Promise<boolean> {
  const folder = runFolder(deps.dataDir, runId);
  const trash = trashFolder(deps.dataDir);
  try {
    mkdirSync(trash, { recursive: true, mode: 0o700 });
    const record = readRecord(folder);
    if (record !== undefined) await recoverPublish(deps, { folder, record });
    deps.states.drop(runId);
    await releaseTrees(folder.path);
    renameSync(folder.path, join(trash, `${runId}~${deps.now()}`));
    await syncPath(join(deps.dataDir, 'runs'));
  } catch (error) {
    if (!(error instanceof WorkspaceError) && errnoOf(error) === undefined) throw error;
    deps.logger.warn({ run_id: runId, err: error }, 'failed to move the folder of an unknown run to the trash');
    return false;
  }
  deps.logger.warn({ run_id: runId, trash }, 'moved the folder of a run unknown to Redis to the trash');
  return true;
}

/** Removes folders after `limits.trashMs` in the trash. */
async function emptyTrash(deps: Deps): Promise<void> {
  const trash = trashFolder(deps.dataDir);
  const names = await readdir(trash).catch(unlessMissing([]));
  for (const name of names) {
    const path = join(trash, name);
    // Both must be old: the name contains the time of a possibly wrong wall clock.
    const movedAt = Math.max(Number(name.split('~')[1] ?? Number.NaN), (await lstat(path)).ctimeMs);
    if (deps.now() - movedAt > deps.limits.trashMs) await removeTrees(path);
  }
}
