import type { Redis } from 'ioredis';
import { openClock } from './clock.ts';
import { redisTime } from './redis/redis-lock.ts';

/** Clocks of computers drift by less than a millisecond in this time. */
const everyMs = 10_000;
/** A slower answer says too little about when Redis read its clock. */
const mostMs = 250;

/** The time of day in this process: milliseconds since the epoch by the clock of Redis, the same clock that judges deadlines. */
export interface SharedClock {
  now: () => number;
  stop(): void;
}

/**
 * Follows the clock of Redis, so that all processes agree on when a wait is over, and a process with a wrong wall clock ends no wait early.
 * Between
 * two readings the process counts on with its own clock. A jump of the Redis clock is accepted after half a minute (`openClock`).
 */
export async function openSharedClock(redis: Redis): Promise<SharedClock> {
  let offset = (await offsetOf(redis)).offset;
  const look = async (): Promise<void> => {
    const seen = await offsetOf(redis);
    if (seen.tookMs <= mostMs) offset = seen.offset;
  };
  // Without Redis the process counts on.
  const timer = setInterval(() => void look().catch(() => undefined), everyMs).unref();
  const monotonic = () => performance.now();
  return { now: openClock({ wall: () => monotonic() + offset, monotonic }), stop: () => clearInterval(timer) };
}

/** How far the clock of Redis is ahead of this process's monotonic clock. */
async function offsetOf(redis: Redis): Promise<{ offset: number; tookMs: number }> {
  const sent = performance.now();
  const time = await redisTime(redis);
  const answered = performance.now();
  return { offset: time - (sent + answered) / 2, tookMs: answered - sent };
}
