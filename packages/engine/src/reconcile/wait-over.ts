import { isTaskOver } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import type { RunState, StepState } from '../domain/index.ts';
import { readTask } from '../log/index.ts';

/** Whether a deferred step may continue: its task has ended, or its deadline has passed. */
export async function isWaitOver(
  deps: Pick<WorkerDeps, 'redis' | 'now'>,
  run: RunState,
  { deferred }: StepState,
): Promise<boolean> {
  if (deferred === undefined) return true;
  const isBeginning = deferred.begins !== undefined;
  if (!isBeginning && Date.parse(deferred.until) <= deps.now()) return true;
  const task = await readTask(deps.redis, run.id, deferred.task_id);
  // The task's worker settles the call when the command has begun. Here only the end of a command proves its beginning.
  if (isBeginning && task?.status === 'capturing') return true;
  return task === undefined || isTaskOver(task.status);
}
