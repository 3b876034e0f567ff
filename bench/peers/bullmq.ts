/** A bare job of BullMQ, without a log, a plan or a tool: the floor of a step. Parked: a delayed job, promoted at its release. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestRedis } from '@holdpoint/embedded-redis/testing';
import { connect } from '@holdpoint/engine/redis';
import { Queue, Worker } from 'bullmq';
import pino from 'pino';
import { type Peer, servePeer } from './peer.ts';

async function open(): Promise<Peer> {
  const directory = mkdtempSync(join(tmpdir(), 'hp-bullmq-'));
  const redis = await startTestRedis(join(directory, 'data'));
  const connections = connect(redis.path, pino({ level: 'silent' }));
  const begun = new Map<string, () => void>();
  const ended = new Map<string, () => void>();
  const queue = new Queue('bench', { connection: connections.state, prefix: '{bench}' });
  const worker = new Worker('bench', async ({ id }) => begun.get(String(id))?.(), {
    connection: connections.worker(),
    prefix: '{bench}',
    concurrency: 40,
    lockDuration: 13_000,
    stalledInterval: 5000,
    removeOnComplete: { count: 0 },
  });
  worker.on('completed', ({ id }) => {
    ended.get(String(id))?.();
    ended.delete(String(id));
  });
  await worker.waitUntilReady();
  let serial = 0;
  const add = (id: string, options: object = {}): Promise<unknown> =>
    queue.add('job', { run_id: id, step_id: id }, { jobId: id, attempts: 8, removeOnComplete: true, ...options });
  const oneJob = async (): Promise<number> => {
    const id = `job-${serial++}`;
    const { promise, resolve } = Promise.withResolvers<void>();
    ended.set(id, resolve);
    await add(id);
    await promise;
    return performance.now();
  };
  const oneRun = async (steps: number): Promise<number[]> => {
    const ends: number[] = [];
    for (let number = 0; number < steps; number++) ends.push(await oneJob());
    return ends;
  };
  return {
    run: ({ runs, steps }) => Promise.all(Array.from({ length: runs }, () => oneRun(steps))),
    async park(count) {
      const keys = Array.from({ length: count }, () => `parked-${serial++}`);
      for (const key of keys) await add(key, { delay: 86_400_000 });
      return keys;
    },
    async release(key) {
      const { promise, resolve } = Promise.withResolvers<number>();
      begun.set(key, () => resolve(performance.now()));
      const from = performance.now();
      await (await queue.getJob(key))?.promote();
      return (await promise) - from;
    },
    processes: async () => ({ server: [redis.pid] }),
    async stop() {
      await worker.close(true);
      await connections.close();
      await redis.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

await servePeer(open);
