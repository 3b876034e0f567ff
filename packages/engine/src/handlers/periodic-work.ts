import type { Redis } from 'ioredis';
import { z } from 'zod';
import { healthKey, lockKey } from '../log/index.ts';
import { openRedisLock, redisTime } from '../redis/redis-lock.ts';

/** Repeated work of one worker among all: the sweep and maintenance. */
export type PeriodicWork = 'sweep' | 'maintenance';

interface Options {
  name: PeriodicWork;
  workerId: string;
  everyMs: number;
}

/** When a piece of periodic work was last done, by the clock of Redis. */
export interface LastDone {
  at: number;
  every_ms: number;
  /** Null: the work was not done yet, and the first interval began at `at`. */
  worker: string | null;
}

/** A holder that has not renewed its lock for this long is presumed dead. */
const lostMs = 15_000;

/**
 * Does the work when due, unless another worker does. Each worker looks on its own timer, so losing Redis does not lose the schedule. A
 * worker measures the time since the last work with a monotonic clock, so a clock that jumps does not stop the work. Only a worker that
 * has just started relies on the time written by another worker.
 */
export function openPeriodicWork(redis: Redis, options: Options): PeriodicLook {
  const { name, workerId, everyMs } = options;
  const lock = openRedisLock(redis, { key: lockKey(name), lostMs });
  const key = healthKey(name);
  let seen: { text: string | null; at: number } | undefined;

  const isDue = async (): Promise<boolean> => {
    const text = await redis.get(key);
    if (seen !== undefined && text === seen.text) return performance.now() - seen.at >= everyMs;
    // Another worker did the work since the last look: one interval begins now.
    const isFirst = seen === undefined;
    seen = { text, at: performance.now() };
    if (text === null) await record(null, 'NX');
    return isFirst && text !== null && isPast(parse(text), await redisTime(redis), everyMs);
  };
  const record = async (worker: string | null, onlyNew?: 'NX'): Promise<string> => {
    const text = JSON.stringify({ at: await redisTime(redis), every_ms: everyMs, worker } satisfies LastDone);
    await (onlyNew === undefined ? redis.set(key, text) : redis.set(key, text, onlyNew));
    return text;
  };
  return {
    async look(work) {
      if (!(await isDue())) return false;
      return lock.tryRun(async (signal) => {
        await work(signal);
        seen = { text: await record(workerId), at: performance.now() };
      });
    },
  };
}

export interface PeriodicLook {
  /** For a timer faster than `everyMs`. @returns whether the work was done here */
  look(work: (signal: AbortSignal) => Promise<void>): Promise<boolean>;
}

const lastDoneSchema = z.strictObject({ at: z.number(), every_ms: z.number(), worker: z.string().nullable() });
const parse = (text: string): LastDone => lastDoneSchema.parse(JSON.parse(text));

/** Undefined: never done since this Redis began. */
export async function lastDone(redis: Redis, name: PeriodicWork): Promise<LastDone | undefined> {
  const text = await redis.get(healthKey(name));
  return text === null ? undefined : parse(text);
}

/** A time in the future comes from a wrong clock, and proves nothing. */
const isPast = (last: LastDone, now: number, everyMs: number): boolean =>
  now - last.at >= everyMs || last.at > now + everyMs;

/** Whether the work is long overdue: four intervals, plus half a minute for a replaced worker. */
export function isOverdue({ at, every_ms: everyMs }: LastDone, now: number): boolean {
  return now - at > 4 * everyMs + 30_000;
}
