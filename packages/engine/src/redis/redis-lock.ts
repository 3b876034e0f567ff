import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';

/**
 * A lock for one process of many. No clock of another machine is trusted: the holder keeps changing the value of the key, and a value seen
 * unchanged for `lostMs` of this process's own monotonic clock belongs to a dead holder. Two processes may hold the lock at once when one
 * of them was frozen: the work has to tolerate two holders.
 */
export interface RedisLock {
  /** @returns false when another process holds the lock */
  tryRun(work: (signal: AbortSignal) => Promise<void>): Promise<boolean>;
}

interface Options {
  key: string;
  /** Milliseconds. */
  lostMs: number;
}

/** Replaces or removes the value only when the present value is the expected value. An empty new value removes the key. */
const swap = `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[2]) end
return 1`;

export function openRedisLock(redis: Redis, { key, lostMs }: Options): RedisLock {
  let seen = { value: '', at: 0 };
  const replace = async (from: string, to: string): Promise<boolean> =>
    (await redis.eval(swap, 1, key, from, to)) === 1;

  const take = async (): Promise<string | undefined> => {
    const mine = randomUUID();
    const current = await redis.get(key);
    if (current === null) return (await redis.set(key, mine, 'NX')) === 'OK' ? mine : undefined;
    if (current !== seen.value) seen = { value: current, at: performance.now() };
    if (performance.now() - seen.at < lostMs) return undefined;
    return (await replace(current, mine)) ? mine : undefined;
  };

  return {
    async tryRun(work) {
      let mine = await take();
      if (mine === undefined) return false;
      const lost = new AbortController();
      const renew = async (): Promise<void> => {
        const from = mine ?? '';
        const to = randomUUID();
        if (await replace(from, to)) mine = to;
        else lost.abort();
      };
      // After a connection error the next renewal follows; when the connection stays away, another process takes over.
      let renewing: Promise<void> | undefined;
      const timer = setInterval(() => {
        renewing = renew().catch(() => undefined);
      }, lostMs / 4);
      timer.unref();
      try {
        await work(lost.signal);
        return true;
      } finally {
        clearInterval(timer);
        // A renewal under way replaces the value that the release expects.
        await renewing;
        await replace(mine, '').catch(() => false);
      }
    },
  };
}

/** The clock of Redis, shared by all processes: milliseconds since the epoch. */
export async function redisTime(redis: Redis): Promise<number> {
  const [seconds, micros] = await redis.time();
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
}
