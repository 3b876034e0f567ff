import { Queue, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { queuePrefix } from './queues.ts';

interface SideQueueOptions<Job> {
  name: string;
  redis: Redis;
  /** For the worker: waits for Redis without a limit. */
  connection: Redis;
  slots: number;
  attempts: number;
  /** Milliseconds until the next try. */
  backoffOf: (made: number, error: unknown) => number;
  handle: (job: Job) => Promise<void>;
  /** Called when a job fails. It is tried again while attempts are left. */
  onFailure: (job: Job | undefined, error: Error) => void;
}

/** Opens a queue of work beside the runs, and its worker in this process. A job that a dead process had taken is taken by another one. */
export function openSideQueue<Job>(options: SideQueueOptions<Job>) {
  const { name, attempts } = options;
  const queue = new Queue<Job, void, string>(name, {
    ...{ connection: options.redis, prefix: queuePrefix },
    defaultJobOptions: {
      ...{ attempts, backoff: { type: 'holdpoint' }, stackTraceLimit: 1 },
      ...{ removeOnComplete: true, removeOnFail: true },
    },
  });
  const worker = new Worker<Job, void, string>(name, async ({ data }) => options.handle(data), {
    ...{ connection: options.connection, prefix: queuePrefix, concurrency: options.slots },
    maxStalledCount: 1_000_000,
    settings: { backoffStrategy: (made, _type, error) => options.backoffOf(made, error) },
  });
  // The shared connection logs its errors once (redis/connect.ts). An 'error' event without a listener would end the process.
  queue.on('error', () => undefined);
  worker.on('error', () => undefined);
  worker.on('failed', (job, error) => options.onFailure(job?.data, error));
  return {
    queue,
    async close(): Promise<void> {
      await worker.close();
      await queue.close();
    },
  };
}
