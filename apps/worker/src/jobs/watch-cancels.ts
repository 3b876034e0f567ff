import type { WorkerDeps } from '@holdpoint/engine/deps';
import { controlChannel } from '@holdpoint/engine/log/keys';
import { readRun } from '@holdpoint/engine/log/read-state';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import type { RunningWorkers } from './start-workers.ts';

const messageSchema = z.strictObject({ kind: z.literal('cancel'), run_id: z.string() });
const lookEvery = 2000;

/**
 * Aborts what this process does for a run that is being canceled. The message makes it quick; the look at the state of every active
 * run makes it sure.
 */
export async function watchCancels(
  deps: WorkerDeps,
  { subscriber, workers }: { subscriber: Redis; workers: RunningWorkers },
): Promise<{ stop(): void }> {
  const onMessage = (channel: string, text: string): void => {
    if (channel !== controlChannel) return;
    const message = messageSchema.safeParse(JSON.parse(text));
    if (message.success) workers.cancelRun(message.data.run_id);
    else deps.logger.warn({ text }, 'a control message that is none of ours');
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

async function look(deps: WorkerDeps, workers: RunningWorkers): Promise<void> {
  for (const runId of workers.active()) {
    const run = await readRun(deps.redis, runId);
    if (run?.status === 'canceling') workers.cancelRun(runId);
  }
}
