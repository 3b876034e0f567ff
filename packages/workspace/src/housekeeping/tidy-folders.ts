import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Deps } from '../deps.ts';
import { discard } from '../discard.ts';
import { errnoOf, WorkspaceError } from '../errors.ts';
import { removeFolder } from '../files/remove-folder.ts';
import { makingIn, removeDeadMakers } from '../run/place-run.ts';
import { isRunId } from '../run/run-folder.ts';

const hour = 3_600_000;

export interface TidyInput {
  isKnown: (runId: string) => Promise<boolean>;
  /** Runs a task when no other one of the same run is under way. */
  alone: <T>(runId: string, task: () => Promise<T>) => Promise<T>;
}

/**
 * Finishes discards that were interrupted, and removes folders of runs that nobody knows: a process died between making a folder and
 * telling of it. A folder younger than an hour may be about to be told of. What is no run's folder is not ours to remove.
 */
export async function tidyFolders(deps: Deps, { isKnown, alone }: TidyInput): Promise<string[]> {
  const trash = join(deps.dataDir, 'trash');
  for (const runId of await runsIn(trash)) await alone(runId, () => removeFolder(join(trash, runId)));
  const runs = join(deps.dataDir, 'runs');
  const removed: string[] = [];
  for (const runId of await runsIn(runs)) {
    const isOld = () => isOlder(deps, join(runs, runId));
    if (!(await isOld()) || (await isKnown(runId))) continue;
    // Looked at again when nobody else is at it.
    const isGone = await alone(runId, async () => (await isOld()) && (await remove(deps, runId)));
    if (isGone) removed.push(runId);
  }
  await removeDeadMakers(deps);
  await tidyMaking(deps);
  for (const runId of await runsIn(runs)) await alone(runId, () => tidyRetired(deps, join(runs, runId, 'retired')));
  for (const name of await namesIn(join(deps.dataDir, 'git'))) {
    const path = join(deps.dataDir, 'git', name);
    if (name.startsWith('tmp-') && (await isOlder(deps, path))) await removeFolder(path);
  }
  return removed;
}

const day = 24 * hour;

/** One that is still at it after a day is frozen, or of another boot or host: it has lost. */
async function tidyMaking(deps: Deps): Promise<void> {
  const making = makingIn(deps.dataDir);
  for (const name of await namesIn(making)) {
    if (await isOlder(deps, join(making, name), day)) await removeFolder(join(making, name));
  }
}

/** Trees that were taken over, and that whoever did so could not remove. */
async function tidyRetired(deps: Deps, path: string): Promise<void> {
  if (!(await isOlder(deps, path))) return;
  await removeFolder(path).catch((error: unknown) => deps.logger.warn({ path, err: error }, 'retired trees remain'));
}

/** One folder that cannot be removed does not keep the others. */
async function remove(deps: Deps, runId: string): Promise<boolean> {
  try {
    await discard(deps, runId);
    return true;
  } catch (error) {
    if (!(error instanceof WorkspaceError) && errnoOf(error) === undefined) throw error;
    deps.logger.warn({ runId, err: error }, 'the folder of an unknown run could not be removed');
    return false;
  }
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
