import { isTerminal, type MergeResult, type Problem } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import type { RunState } from '../domain/index.ts';
import { readRun, readTask } from '../log/index.ts';

/** The source of a sub-agent's merge, or the reason why no merge is possible. */
export async function findMerge(
  deps: Pick<WorkerDeps, 'redis' | 'catalog'>,
  run: RunState,
  taskId: string,
): Promise<{ status: 'ready'; from: { runId: string; snapshot: string; base: string } } | Refused> {
  const task = await readTask(deps.redis, run.id, taskId);
  const child = task?.about.child === undefined ? undefined : await readRun(deps.redis, task.about.child);
  if (!task || task.about.child === undefined) {
    return refuse(
      'ENOTASK',
      `${taskId} is no sub-agent of this run.`,
      'Use the task_id that the call of the sub-agent returned.',
    );
  }
  if (!child || !isTerminal(child.status)) {
    const { waits } = deps.catalog.taskTools(run.header.toolset);
    const next = waits === undefined ? 'Wait until it has ended.' : `Wait for it with ${waits}.`;
    return refuse('ETASKRUNNING', `${taskId} is not over.`, next);
  }
  const { parent, snapshot } = child;
  if (child.status !== 'succeeded' || parent === undefined || snapshot === undefined) {
    return refuse('ETASKFAILED', `${taskId} ${child.status}: what it did is not taken over.`, 'Begin it again.');
  }
  if (child.publication === 'discarded' || child.publication === 'discarding') {
    return refuse('ETASKDISCARDED', `The workspace of ${taskId} was discarded.`, 'Begin it again.');
  }
  return { status: 'ready', from: { runId: child.id, snapshot, base: parent.snapshot } };
}

type Refused = Extract<MergeResult, { status: 'refused' }>;

function refuse(code: string, message: string, next: string): Refused {
  return { status: 'refused', problem: { code, message, next } satisfies Problem };
}
