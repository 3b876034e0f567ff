import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { backoffOf, capDelay, queuePrefix } from './queues.ts';
import { openSideQueue } from './side-queue.ts';

/** A wake-up: the record of the pull request decides what is due. */
interface PullJob {
  run_id: string;
}

const name = 'pull-requests';
/** With waits of up to half a minute. The sweep of the pull requests comes back later than that. */
const attempts = 8;
const slots = 4;
/** Webhooks come in bursts: those within this time are one look, after the burst. */
const burstMs = 1000;

/** Has pull requests looked at by the workers. */
export interface PullWaker {
  /** @param at milliseconds since the epoch. The same wake-up is never queued twice */
  wake(runId: string, at: number): Promise<void>;
  close(): Promise<void>;
}

interface WakerOptions {
  redis: Redis;
  now: () => number;
}

function wakeIn(queue: Queue<PullJob>, { now }: WakerOptions): PullWaker['wake'] {
  return async (runId, at) => {
    const then = Math.ceil(at / burstMs) * burstMs;
    const delay = capDelay(then - now());
    await queue.add('look', { run_id: runId }, { jobId: `${runId}@${then}`, ...(delay > 0 && { delay }) });
  };
}

/** For processes that do not look themselves. */
export function openPullWaker(options: WakerOptions): PullWaker {
  const defaultJobOptions = {
    ...{ attempts, backoff: { type: 'holdpoint' }, stackTraceLimit: 1, removeOnComplete: true, removeOnFail: true },
  };
  const queue = new Queue<PullJob>(name, { connection: options.redis, prefix: queuePrefix, defaultJobOptions });
  // The shared connection logs its errors once (redis/connect.ts). An 'error' event without a listener would end the process.
  queue.on('error', () => undefined);
  return { wake: wakeIn(queue, options), close: () => queue.close() };
}

/**
 * Opens the queue that wakes looks at pull requests, and its worker in this process.
 * @param options.connection for the worker: waits for Redis without a limit
 */
export function openPullQueue(
  options: WakerOptions & {
    connection: Redis;
    handle: (runId: string) => Promise<void>;
    /** Called when a job fails. It is tried again while attempts are left. */
    onFailure: (runId: string | undefined, error: Error) => void;
  },
): PullWaker {
  const { queue, close } = openSideQueue<PullJob>({
    ...{ redis: options.redis, connection: options.connection, name, slots, attempts },
    backoffOf: (made, error) => backoffOf(made, error, Math.random),
    handle: ({ run_id }) => options.handle(run_id),
    onFailure: (job, error) => options.onFailure(job?.run_id, error),
  });
  return { wake: wakeIn(queue, options), close };
}
