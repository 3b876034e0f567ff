import { type BackendFactory, QueueKeys, RedisConnection, RedisQueueBackend } from 'bullmq';
import type { Redis } from 'ioredis';
import { defineSilentEnd, SilentEndBackend } from './silent-end.ts';

interface Options {
  prefix: string;
  /** Commands that wake no waiting worker: adds, or ends of jobs which take the next job. @default none */
  silent?: 'adds' | 'ends' | undefined;
}

/**
 * Opens the backend of a queue on a shared connection. BullMQ wakes a waiting worker for each added job, and another worker for each taken
 * job. When the end of a job takes the job added right before, the woken workers find nothing: two round trips and a write to the disk per
 * job. So both commands may be silent, and a silent add has to be followed by a silent end, or by `wakeWaiting`. When the process dies
 * between the two, a waiting worker finds the job at its next look: after `drainDelay` (5 s), or, when the worker waits until a delayed job
 * is due, after 10 s at most: BullMQ lets no worker wait longer.
 */
export function openBackend(redis: Redis, { prefix, silent }: Options): BackendFactory<RedisQueueBackend> {
  if (silent === 'ends') defineSilentEnd(redis);
  const Backend = silent === 'ends' ? SilentEndBackend : RedisQueueBackend;
  return (name, options) => {
    const connection = new RedisConnection(redis, { shared: true, blocking: false, skipVersionCheck: true });
    // The connection logs its errors. An 'error' event without a listener would end the process.
    connection.on('error', () => undefined);
    const all = new QueueKeys(prefix);
    const toKey = (type: string): string => all.toKey(name, type);
    // A waiting worker blocks on the marker.
    const keys = silent === 'adds' ? { ...all.getKeys(name), marker: toKey('unheard') } : all.getKeys(name);
    return new Backend(connection, name, keys, toKey, options, undefined, false);
  };
}

/** Wakes a waiting worker of the queue, as an add does. */
export async function wakeWaiting(redis: Redis, { toKey }: { toKey(type: string): string }): Promise<void> {
  await redis.zadd(toKey('marker'), 0, '0');
}
