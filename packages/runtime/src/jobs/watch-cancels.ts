import { isTerminal } from '@holdpoint/contract';
import { controlChannel, readRun, readStep, readTask, type WorkerDeps } from '@holdpoint/engine/worker';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import type { RunningWorkers } from './queue-workers.ts';

const messageSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('cancel'), run_id: z.string() }),
  z.strictObject({ kind: z.literal('cancel_step'), run_id: z.string(), step_id: z.string() }),
  z.strictObject({ kind: z.literal('kill'), run_id: z.string(), task_id: z.string() }),
]);
const lookEvery = 2000;

/**
 * Aborts the jobs of canceled runs, the calls of canceled steps and killed background commands in this process. A message makes the abort
 * quick. A regular look at the state covers lost messages.
 */
export async function watchCancels(
  deps: WorkerDeps,
  { subscriber, workers }: { subscriber: Redis; workers: RunningWorkers },
): Promise<{ stop(): void }> {
  const onMessage = (channel: string, text: string): void => {
    if (channel !== controlChannel) return;
    const message = messageSchema.safeParse(JSON.parse(text));
    if (message.success) act(workers, message.data);
    else deps.logger.warn({ text }, 'unknown control message');
  };
  subscriber.on('message', onMessage);
  await subscriber.subscribe(controlChannel);

  const timer = setInterval(() => {
    look(deps, workers).catch((error: unknown) => deps.logger.warn({ err: error }, 'could not look for canceled runs'));
  }, lookEvery);
  timer.unref();
  return {
    stop() {
      clearInterval(timer);
      subscriber.off('message', onMessage);
    },
  };
}

function act(workers: RunningWorkers, message: z.infer<typeof messageSchema>): void {
  if (message.kind === 'cancel') workers.cancelRun(message.run_id);
  else if (message.kind === 'cancel_step') workers.cancelStep(message.step_id);
  else workers.killTask(message.task_id);
}

async function look(deps: WorkerDeps, workers: RunningWorkers): Promise<void> {
  for (const runId of workers.active()) {
    const run = await readRun(deps.redis, runId);
    // Nothing of an ended run may still run. A worker finds commands of ended runs after a long freeze.
    const isOver = run !== undefined && isTerminal(run.status);
    if (run?.status === 'canceling' || run?.status === 'canceled') workers.cancelRun(runId);
    else if (isOver) for (const task of workers.tasks()) if (task.run_id === runId) workers.killTask(task.task_id);
  }
  for (const { run_id, task_id } of workers.tasks()) {
    if ((await readTask(deps.redis, run_id, task_id))?.kill !== undefined) workers.killTask(task_id);
  }
  for (const { run_id, step_id } of workers.steps()) {
    if ((await readStep(deps.redis, run_id, step_id))?.step.cancel !== undefined) workers.cancelStep(step_id);
  }
}
