import { isTaskOver, isTerminal } from '@holdpoint/contract';
import type { EngineDeps, WorkerDeps } from '../deps.ts';
import type { RunState, StepState } from '../domain/index.ts';
import { readRun, readTask, trackActive, untrackActive } from '../log/index.ts';

/** Whether the workspace job of a run has work or waits for a decision. */
export const isWorkspaceDue = (run: RunState): boolean =>
  run.restore === 'due' ||
  run.publication === 'requested' ||
  run.publication === 'parked' ||
  run.publication === 'discarding';

/**
 * Removes an ended run from the index of active runs, unless a request arrived at the same moment. The function reads the run again
 * afterwards: a request adds the run to the index before its append, and a Redis that lost its last writes may have the run as it was
 * before its end.
 * @returns whether nothing is due
 */
export async function releaseUnlessDue(deps: Pick<EngineDeps, 'redis'>, run: RunState): Promise<boolean> {
  if (!isTerminal(run.status)) return !isWorkspaceDue(run);
  await untrackActive(deps.redis, run.id);
  const now = await readRun(deps.redis, run.id);
  if (!now || (isTerminal(now.status) && !isWorkspaceDue(now))) return true;
  await trackActive(deps.redis, run.id);
  return false;
}

/** Whether a deferred step may continue: its task has ended, or the time has passed. */
export async function isWaitOver(
  deps: Pick<WorkerDeps, 'redis' | 'now'>,
  run: RunState,
  { deferred }: StepState,
): Promise<boolean> {
  if (deferred === undefined) return true;
  const isBeginning = deferred.begins !== undefined;
  if (!isBeginning && Date.parse(deferred.until) <= deps.now()) return true;
  if (deferred.task_id === undefined) return false;
  const task = await readTask(deps.redis, run.id, deferred.task_id);
  // The task's worker settles the call when the command has begun. Here only the end of a command proves its beginning.
  if (isBeginning && task?.status === 'capturing') return true;
  return task === undefined || isTaskOver(task.status);
}
