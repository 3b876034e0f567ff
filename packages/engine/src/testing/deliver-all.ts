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
    let finishing: Promise<unknown> | undefined;
    const finish = () => {
      finishing ??= inOrder(worker, () => next.remove());
      finishing.catch(unlessDied);
    };
    const context = { ...calm(), finish };
    try {
      if (turn) await handleTurn(worker, turn.data, context);
      else if (step) await handleStep(worker, step.data, context);
      else if (workspace) await handleWorkspace(worker, workspace.data, context);
      else if (task) await handleTask(worker, task.data, context);
      // BullMQ removes a job when its handler has returned, or in its last pipeline: what was added under the same id before is lost.
      await (finishing ?? next.remove());
    } catch (error) {
      unlessDied(error);
      await finishing?.catch(unlessDied);
    }
  }
}

/** Acts after the commands that were begun before: one more command of the worker, which keeps their order. */
export async function inOrder(deps: WorkerDeps, act: () => Promise<unknown>): Promise<unknown> {
  await new Promise<void>((resolve) => process.nextTick(resolve));
  await deps.redis.ping();
  return act();
}

function unlessDied(error: unknown): void {
  if (!(error instanceof Died)) throw error;
}

export const sweepOnce = (deps: WorkerDeps): Promise<void> =>
  sweep(deps, new AbortController().signal, { whole: true });
