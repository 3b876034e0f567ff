import { type BackendFactory, QueueKeys, RedisConnection, RedisQueueBackend } from 'bullmq';
import type { Redis } from 'ioredis';

/**
 * Opens the backend of a queue on a connection that others use as well. A silent one wakes no worker that waits. BullMQ wakes one for each job
 * that is added, and one more for each that is taken: where the end of a job takes the one that was added right before it, they find nothing,
 * which costs two round trips and a write to the disk per job. So an add has to be followed by such an end, or by `wakeWaiting`. When the process
 * dies between the two, a waiting worker finds the job at its next look: after `drainDelay` (5 s), or, when it waits until a delayed job is due, after
 * 10 s at most: BullMQ lets no worker wait longer.
 */
export function openBackend(
  redis: Redis,
  { prefix, isSilent }: { prefix: string; isSilent: boolean },
): BackendFactory<RedisQueueBackend> {
  return (name, options) => {
    const connection = new RedisConnection(redis, { shared: true, blocking: false, skipVersionCheck: true });
    // The connection logs its errors itself. An 'error' event without a listener would end the process.
    connection.on('error', () => undefined);
    const all = new QueueKeys(prefix);
    const toKey = (type: string): string => all.toKey(name, type);
    // A waiting worker blocks on the marker.
    const keys = isSilent ? { ...all.getKeys(name), marker: toKey('unheard') } : all.getKeys(name);
    return new RedisQueueBackend(connection, name, keys, toKey, options, undefined, false);
  };
}

/** Wakes a waiting worker of the queue, as an add does. */
export async function wakeWaiting(redis: Redis, { toKey }: { toKey(type: string): string }): Promise<void> {
  await redis.zadd(toKey('marker'), 0, '0');
}
