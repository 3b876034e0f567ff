import type { WorkerDeps } from '../deps.ts';
import { handleStep } from '../handlers/handle-step.ts';
import { handleTask } from '../handlers/handle-task.ts';
import { handleTurn } from '../handlers/handle-turn.ts';
import { handleWorkspace } from '../handlers/handle-workspace.ts';
import { sweep } from '../handlers/sweep.ts';
import type { JobContext } from '../jobs/job.ts';
import { Died } from './dying-process.ts';

/** The context of a job that nothing interrupts. */
export const calm = (): JobContext => ({ signal: new AbortController().signal, lastTry: false });

/**
 * Delivers every waiting wake-up to its handler, one at a time, until none is left: a queue whose every delivery can be seen. A handler
 * that throws has died; its job is delivered again.
 * @param perJob the deps of the n-th delivery, from 1
 */
export async function deliverAll(deps: WorkerDeps, perJob: (n: number) => WorkerDeps = () => deps): Promise<void> {
  let deliveries = 0;
  for (;;) {
    const turns = await deps.queues.turns.getJobs(['waiting', 'prioritized']);
    const steps = await deps.queues.steps.getJobs(['waiting', 'prioritized']);
    const workspaces = await deps.queues.workspaces.getJobs(['waiting', 'prioritized']);
    const tasks = await deps.queues.tasks.getJobs(['waiting', 'prioritized']);
    const [turn, step, workspace, task] = [turns.at(-1), steps.at(-1), workspaces.at(-1), tasks.at(-1)];
    const next = turn ?? step ?? workspace ?? task;
    if (!next) return;
    deliveries += 1;
    if (deliveries > 500) throw new Error('the run does not come to an end');
    const worker = perJob(deliveries);
    try {
      if (turn) await handleTurn(worker, turn.data, calm());
      else if (step) await handleStep(worker, step.data, calm());
      else if (workspace) await handleWorkspace(worker, workspace.data, calm());
      else if (task) await handleTask(worker, task.data, calm());
    } catch (error) {
      if (!(error instanceof Died)) throw error;
      continue;
    }
    // BullMQ removes a job only when its handler has returned: what the handler added under the same id is lost.
    await next.remove();
  }
}

export const sweepOnce = (deps: WorkerDeps): Promise<void> => sweep(deps, new AbortController().signal);
