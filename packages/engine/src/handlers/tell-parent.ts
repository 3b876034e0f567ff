import type { WorkerDeps } from '../deps.ts';
import type { RunState } from '../domain/state.ts';
import { endTask, killedOutcome } from '../domain/transitions/tasks.ts';
import { isTaskOver } from '../domain/vocabulary.ts';
import { append } from '../log/append.ts';
import { readTask } from '../log/read-state.ts';

/** Records the end of a sub-agent's run in the log of the run that it works for. @returns whether that is news */
export async function tellParent(deps: WorkerDeps, child: RunState): Promise<boolean> {
  const { parent } = child;
  if (parent === undefined) return false;
  const task = await readTask(deps.redis, parent.run_id, parent.task_id);
  if (!task || isTaskOver(task.status)) return false;
  const told = await append(deps, parent.run_id, endTask(task, outcomeOf(child)));
  return told.ok;
}

function outcomeOf(child: RunState) {
  const reason = child.reason === undefined ? {} : { reason: child.reason };
  const message = child.message === undefined ? {} : { message: child.message };
  switch (child.status) {
    case 'succeeded':
      return { status: 'completed' as const, exit_code: null, ...message };
    case 'canceled':
      return killedOutcome({ code: 'EKILLED', message: 'Its run was canceled.' });
    default:
      return { status: 'failed' as const, exit_code: null, ...reason, ...message };
  }
}
