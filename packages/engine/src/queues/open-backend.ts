import { type BackendFactory, QueueKeys, RedisConnection, RedisQueueBackend } from 'bullmq';
import type { Redis } from 'ioredis';

/** BullMQ scores a delayed job by its due time, plus twelve bits for the order. */
export const scoreUnit = 0x1000;
/** The end of a job compares with a clock read some lines later. */
const laterMs = 100;

interface Options {
  prefix: string;
  /** Adds and ends on this backend wake no waiting worker for the job that they add or take. @default false */
  isSilent?: boolean | undefined;
}

/**
 * Opens the backend of a queue on a shared connection. BullMQ wakes a waiting worker for each added job, and another worker for each taken
 * job. When the end of a job takes the job added right before, the woken workers find nothing: two round trips and a write to the disk per
 * job. So both commands may be silent, and a silent add has to be followed by a silent end, or by `wakeWaiting`. When the process dies
 * between the two, a waiting worker finds the job at its next look: after `drainDelay` (5 s), or, when the worker waits until a delayed job
 * is due, after 10 s at most: BullMQ lets no worker wait longer.
 */
export function openBackend(redis: Redis, { prefix, isSilent = false }: Options): BackendFactory<RedisQueueBackend> {
  return (name, options) => {
    const connection = new RedisConnection(redis, { shared: true, blocking: false, skipVersionCheck: true });
    // The connection logs its errors. An 'error' event without a listener would end the process.
    connection.on('error', () => undefined);
    const all = new QueueKeys(prefix);
    const toKey = (type: string): string => all.toKey(name, type);
    const keys = all.getKeys(name);
    if (!isSilent) return new RedisQueueBackend(connection, name, keys, toKey, options, undefined, false);
    // A waiting worker blocks on the marker.
    const unheard = { ...keys, marker: toKey('unheard') };
    return new SilentBackend(redis, connection, name, unheard, toKey, options, undefined, false);
  };
}

type End = Parameters<RedisQueueBackend['moveToCompleted']>;

/** Due delayed jobs had no wake-up when added, so an end that promotes delayed jobs still wakes a worker. */
class SilentBackend extends RedisQueueBackend {
  readonly #redis: Redis;

  constructor(redis: Redis, ...backend: ConstructorParameters<typeof RedisQueueBackend>) {
    super(...backend);
    this.#redis = redis;
  }

  override async moveToCompleted(...end: End): ReturnType<RedisQueueBackend['moveToCompleted']> {
    const [, , , , fetchesNext] = end;
    // Counted before the end, in the same write: the end moves the due jobs.
    const waking = fetchesNext ? this.#wakeForDue() : undefined;
    const ended = await super.moveToCompleted(...end);
    await waking;
    return ended;
  }

  /** Without a connection, a worker finds the job at its next look. */
  async #wakeForDue(): Promise<void> {
    const due = this.#redis.zcount(this.toKey('delayed'), 0, (Date.now() + laterMs) * scoreUnit);
    if ((await due.catch(() => 0)) > 0) await wakeWaiting(this.#redis, this).catch(() => undefined);
  }
}

/** Wakes a waiting worker of the queue, as an add does. */
export async function wakeWaiting(redis: Redis, queue: { toKey(type: string): string }): Promise<void> {
  await redis.zadd(queue.toKey('marker'), 0, '0');
}
