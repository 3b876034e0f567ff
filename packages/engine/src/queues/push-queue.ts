import type { Redis } from 'ioredis';
import { backoffOf } from './queues.ts';
import { openSideQueue } from './side-queue.ts';

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
  const { queue, close } = openSideQueue<PushJob>({ ...options, name, slots, attempts, backoffOf: pushBackoffOf });
  return {
    async add(job) {
      await queue.add('push', job, { jobId: `${job.subscription_id}-${job.about_id}` });
    },
    close,
  };
}
