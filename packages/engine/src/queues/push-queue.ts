import { Queue, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { backoffOf, queuePrefix } from './queues.ts';

/** A wake-up: the state of the approval or the run decides whether something is sent. */
export interface PushJob {
  subscription_id: string;
  about: 'approval' | 'run';
  about_id: string;
}

export interface PushQueue {
  /** The same job is never queued twice. */
  add(job: PushJob): Promise<void>;
  close(): Promise<void>;
}

const name = 'pushes';
/** With waits of 1 s, 2 s, … up to ten minutes, an hour and a half. */
const attempts = 16;
const slots = 4;

/** 0.25 s, 0.5 s, … of other jobs would hurry a push service that is overloaded. */
const pushBackoffOf = (made: number, error: unknown): number =>
  error instanceof Error && 'retryAfterMs' in error
    ? backoffOf(made, error, Math.random)
    : Math.round(Math.min(1000 * 2 ** (made - 1), 600_000) * (0.5 + Math.random()));

/**
 * Opens the queue of pushes to browsers, and its worker in this process.
 * @param options.connection for the worker: waits for Redis without a limit
 */
export function openPushQueue(options: {
  redis: Redis;
  connection: Redis;
  handle: (job: PushJob) => Promise<void>;
  /** Called when a job fails. It is tried again while attempts are left. */
  onFailure: (job: PushJob | undefined, error: Error) => void;
}): PushQueue {
  const queue = new Queue<PushJob>(name, {
    ...{ connection: options.redis, prefix: queuePrefix },
    defaultJobOptions: {
      ...{ attempts, backoff: { type: 'holdpoint' }, stackTraceLimit: 1 },
      ...{ removeOnComplete: true, removeOnFail: true },
    },
  });
  const worker = new Worker<PushJob>(name, async ({ data }) => options.handle(data), {
    ...{ connection: options.connection, prefix: queuePrefix, concurrency: slots },
    // A push that a dead process had taken is sent by another one.
    maxStalledCount: 1_000_000,
    settings: { backoffStrategy: (made, _type, error) => pushBackoffOf(made, error) },
  });
  // The shared connection logs its errors once (redis/connect.ts). An 'error' event without a listener would end the process.
  queue.on('error', () => undefined);
  worker.on('error', () => undefined);
  worker.on('failed', (job, error) => options.onFailure(job?.data, error));
  return {
    async add(job) {
      await queue.add('push', job, { jobId: `${job.subscription_id}-${job.about_id}` });
    },
    async close() {
      await worker.close();
      await queue.close();
    },
  };
}
