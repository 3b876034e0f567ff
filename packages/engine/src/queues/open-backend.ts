import { type BackendFactory, QueueKeys, RedisConnection, RedisQueueBackend } from 'bullmq';
import type { Redis } from 'ioredis';
import { defineSilentEnd, SilentEndBackend } from './silent-end.ts';

interface Options {
  prefix: string;
  /** What wakes no worker that waits: adds, or the ends of jobs that take the next one. @default nothing */
  silent?: 'adds' | 'ends' | undefined;
}

/**
 * Opens the backend of a queue on a connection that others use as well. BullMQ wakes a waiting worker for each job that is added, and one more
 * for each that is taken: where the end of a job takes the one that was added right before it, they find nothing, which costs two round trips
 * and a write to the disk per job. So both may be silent, and a silent add has to be followed by a silent end, or by `wakeWaiting`. When the
 * process dies between the two, a waiting worker finds the job at its next look: after `drainDelay` (5 s), or, when it waits until a delayed
 * job is due, after 10 s at most: BullMQ lets no worker wait longer.
 */
export function openBackend(redis: Redis, { prefix, silent }: Options): BackendFactory<RedisQueueBackend> {
  if (silent === 'ends') defineSilentEnd(redis);
  const Backend = silent === 'ends' ? SilentEndBackend : RedisQueueBackend;
  return (name, options) => {
    const connection = new RedisConnection(redis, { shared: true, blocking: false, skipVersionCheck: true });
    // The connection logs its errors itself. An 'error' event without a listener would end the process.
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
