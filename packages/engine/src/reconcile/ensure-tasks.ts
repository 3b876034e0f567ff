import { isTaskOver } from '@holdpoint/contract';
import { requestTaskKill } from '../commands/kill-task.ts';
import type { WorkerDeps } from '../deps.ts';
import type { RunState, TaskState } from '../domain/state.ts';
import { readTasks } from '../log/read-state.ts';

/** The jobs that a run's open tasks call for. */
export async function ensureTasks(deps: WorkerDeps, run: RunState): Promise<void> {
  if (run.open_tasks === 0) return;
  const due = (await readTasks(deps.redis, run.id)).filter((task) => isDue(run, task));
  await Promise.all(due.map((task) => deps.queues.wakeTask(run.id, task.id)));
}

/** A sub-agent that runs has no job of its own: its run has, and tells when it is over. */
export function isDue(run: RunState, task: TaskState): boolean {
  if (isTaskOver(task.status)) return false;
  if (task.about.kind === 'shell' || task.kill !== undefined || run.status === 'canceling') return true;
  return task.status === 'queued';
}

/** What still runs beside a run that is about to end is ended first. */
export async function endTasks(deps: WorkerDeps, run: RunState): Promise<void> {
  const open = (await readTasks(deps.redis, run.id)).filter((task) => !isTaskOver(task.status));
  for (const task of open) {
    if (task.kill === undefined) await requestTaskKill(deps, run.id, task.id, 'The end of the run');
    else await deps.queues.wakeTask(run.id, task.id);
  }
}
