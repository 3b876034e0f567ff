import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Deps } from '../deps.ts';
import { discardingFolder } from '../discard.ts';
import { errnoOf } from '../errors.ts';
import { removeFolder } from '../files/remove-folder.ts';
import { makingFolder, removeAbandonedBuilds } from '../run/create-run-folder.ts';
import { isRunId } from '../run/run-folder.ts';
import { emptyTrash, moveToTrash } from './trash.ts';

const hour = 3_600_000;

export interface TidyInput {
  isKnown: (runId: string) => Promise<boolean>;
  /** Runs a task when no other one of the same run is under way. */
  alone: <T>(runId: string, task: () => Promise<T>) => Promise<T>;
}

/**
 * Finishes discards that were interrupted, and moves folders of unknown runs to the trash: a process died between making a folder and
 * recording it, or Redis lost the run. A folder younger than an hour may be about to be recorded. Other folders stay.
 *
 * @returns the runs whose folders were moved
 */
export async function tidyFolders(deps: Deps, { isKnown, alone }: TidyInput): Promise<string[]> {
  const discarding = discardingFolder(deps.dataDir);
  for (const runId of await runsIn(discarding)) await alone(runId, () => removeFolder(join(discarding, runId)));
  const runs = join(deps.dataDir, 'runs');
  const moved: string[] = [];
  for (const runId of await runsIn(runs)) {
    const isOld = () => isOlder(deps, join(runs, runId));
    if (!(await isOld()) || (await isKnown(runId))) continue;
    // Looked at again once no other call for the run is under way.
    const isMoved = await alone(runId, async () => (await isOld()) && (await moveToTrash(deps, runId)));
    if (isMoved) moved.push(runId);
  }
  await emptyTrash(deps);
  await removeAbandonedBuilds(deps);
  await tidyMaking(deps);
  for (const runId of await runsIn(runs)) await alone(runId, () => tidyRetired(deps, join(runs, runId, 'retired')));
  for (const name of await namesIn(join(deps.dataDir, 'git'))) {
    const path = join(deps.dataDir, 'git', name);
    if (name.startsWith('tmp-') && (await isOlder(deps, path))) await removeFolder(path);
  }
  return moved;
}

const day = 24 * hour;

/** One that is still at it after a day is frozen, or of another boot or host: it has lost. */
async function tidyMaking(deps: Deps): Promise<void> {
  const making = makingFolder(deps.dataDir);
  for (const name of await namesIn(making)) {
    if (await isOlder(deps, join(making, name), day)) await removeFolder(join(making, name));
  }
}

/** Trees that were taken over, and that whoever did so could not remove. */
async function tidyRetired(deps: Deps, path: string): Promise<void> {
  if (!(await isOlder(deps, path))) return;
  await removeFolder(path).catch((error: unknown) => deps.logger.warn({ path, err: error }, 'retired trees remain'));
}

async function isOlder(deps: Deps, path: string, than = hour): Promise<boolean> {
  const status = await lstat(path).catch(() => undefined);
  return status !== undefined && deps.now() - status.mtimeMs > than;
}

async function runsIn(path: string): Promise<string[]> {
  return (await namesIn(path)).filter(isRunId);
}

function namesIn(path: string): Promise<string[]> {
  return readdir(path).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  });
}
