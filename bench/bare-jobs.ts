import { Queue, Worker } from 'bullmq';
import type { Redis } from 'ioredis';

export interface BareJobs {
  /** A job, from its addition to the event of its completion. */
  one(): Promise<void>;
  /** So many jobs, never more than `atOnce` at a time. */
  many(count: number, atOnce: number): Promise<void>;
  close(): Promise<void>;
}

/** BullMQ alone: jobs without work. @param connections of the queue and of the worker */
export async function openBareJobs(name: string, connections: { queue: Redis; worker: Redis }): Promise<BareJobs> {
  const prefix = `{${name}}`;
  const done = new Map<string, () => void>();
  const queue = new Queue(name, { connection: connections.queue, prefix });
  const worker = new Worker(name, async () => {}, {
    connection: connections.worker,
    prefix,
    concurrency: 40,
    lockDuration: 13_000,
    stalledInterval: 5000,
    removeOnComplete: { count: 0 },
  });
  worker.on('completed', ({ id }) => done.get(String(id))?.());
  await worker.waitUntilReady();
  let serial = 0;
  const one = async (): Promise<void> => {
    const id = `job-${serial++}`;
    const { promise, resolve } = Promise.withResolvers<void>();
    done.set(id, resolve);
    await queue.add('job', { run_id: id, step_id: id }, { jobId: id, attempts: 8, removeOnComplete: true });
    await promise;
    done.delete(id);
  };
  return {
    one,
    async many(count, atOnce) {
      let left = count;
      const work = async (): Promise<void> => {
        while (left-- > 0) await one();
      };
      await Promise.all(Array.from({ length: atOnce }, work));
    },
    async close() {
      await worker.close();
      await queue.close();
    },
  };
}
