import { isTaskOver } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import type * as domain from '../domain/index.ts';
import { readTasks } from '../log/index.ts';
import { requestTaskKill } from '../tasks/task-handle.ts';

/** Adds the jobs that a run's open tasks need. */
export async function ensureTasks(deps: WorkerDeps, run: domain.RunState): Promise<void> {
  if (run.open_tasks === 0) return;
  const due = (await readTasks(deps.redis, run.id)).filter((task) => isDue(run, task));
  await Promise.all(due.map((task) => deps.queues.wakeTask(run.id, task.id)));
}

/** A running sub-agent needs no task job: its run has jobs and reports its end. An ended sub-agent with a merge needs a job. */
export function isDue(run: domain.RunState, task: domain.TaskState): boolean {
  if (isTaskOver(task.status)) return false;
  if (task.about.kind === 'shell' || task.kill !== undefined || run.status === 'canceling') return true;
  return task.status === 'queued' || task.status === 'capturing';
}

/** Ends the open tasks of a run that is about to end. */
export async function endTasks(deps: WorkerDeps, run: domain.RunState): Promise<void> {
  const open = (await readTasks(deps.redis, run.id)).filter((task) => !isTaskOver(task.status));
  for (const task of open) {
    if (task.kill === undefined) await requestTaskKill(deps, run.id, task.id, 'The end of the run');
    else await deps.queues.wakeTask(run.id, task.id);
  }
}
