import type { Redis } from 'ioredis';

/** The clock of Redis, milliseconds since the epoch: one for all processes. */
export async function redisTime(redis: Redis): Promise<number> {
  const [seconds, micros] = await redis.time();
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
}
