import type { Redis } from 'ioredis';

/** Everything one Redis holds at one moment: what a replica has that lags behind, or an older backup. */
export interface LaggingCopy {
  /** The server has this and nothing else from now on. */
  restore(): Promise<void>;
}

/** Only for a server without keys that expire. */
export async function copyOf(redis: Redis): Promise<LaggingCopy> {
  const keys = await redis.keys('*');
  const dumps = await Promise.all(keys.map((key) => redis.dumpBuffer(key)));
  return {
    async restore() {
      // One write for all commands: a round trip for each took a quarter of the tests that restore often.
      await Promise.all([
        redis.flushdb(),
        ...keys.flatMap((key, at) => (dumps[at] ? [redis.restore(key, 0, dumps[at])] : [])),
      ]);
    },
  };
}

/** The same connection, which makes a copy right before its n-th append. */
export function copyingAt(redis: Redis, n: number): { redis: Redis; copy(): LaggingCopy | undefined } {
  let appends = 0;
  let copy: LaggingCopy | undefined;
  const watched = new Proxy(redis, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== 'function') return value;
      if (key !== 'evalsha') return value.bind(target);
      return async (...args: unknown[]) => {
        appends += 1;
        if (appends === n) copy = await copyOf(target);
        return Reflect.apply(value, target, args);
      };
    },
  });
  return { redis: watched, copy: () => copy };
}
