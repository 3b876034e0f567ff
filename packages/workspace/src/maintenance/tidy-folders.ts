import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Deps } from '../deps.ts';
import { discardingFolder } from '../discard.ts';
import { unlessMissing } from '../errors.ts';
import { removeFolder } from '../files/remove-folder.ts';
import { makingFolder, removeAbandonedBuilds } from '../run/create-run-folder.ts';
import { isRunId } from '../run/run-folder.ts';
import type { Serial } from '../run/serial.ts';
import { emptyTrash, moveToTrash } from './trash.ts';

const hour = 3_600_000;

export interface TidyInput {
  isKnown: (runId: string) => Promise<boolean>;
  serial: Serial;
}

/**
 * Finishes interrupted discards, and moves folders of unknown runs to the trash: a process died between creating a folder and recording
 * it, or Redis lost the run. A folder younger than an hour may be about to be recorded. All other folders stay.
 *
 * @returns the runs whose folders were moved
 */
export async function tidyFolders(deps: Deps, { isKnown, serial }: TidyInput): Promise<string[]> {
  const discarding = discardingFolder(deps.dataDir);
  for (const runId of await runsIn(discarding)) await serial(runId, () => removeFolder(join(discarding, runId)));
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
  for (const runId of await runsIn(runs)) await serial(runId, () => removeRetired(deps, join(runs, runId, 'retired')));
  for (const name of await namesIn(join(deps.dataDir, 'git'))) {
    const path = join(deps.dataDir, 'git', name);
    if (name.startsWith('tmp-') && (await isOlder(deps, path))) await removeFolder(path);
  }
  return moved;
}

const day = 24 * hour;

/** A process that has been building for a day is frozen, or belongs to another boot or host: another process builds the run. */
async function removeStaleBuilds(deps: Deps): Promise<void> {
  const making = makingFolder(deps.dataDir);
  for (const name of await namesIn(making)) {
    if (await isOlder(deps, join(making, name), day)) await removeFolder(join(making, name));
  }
}

/** Removes retired trees that the worker that took them over could not remove. */
async function removeRetired(deps: Deps, path: string): Promise<void> {
  if (!(await isOlder(deps, path))) return;
  await removeFolder(path).catch((error: unknown) =>
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
