import type { Redis } from 'ioredis';

/** The clock of Redis, shared by all processes: milliseconds since the epoch. */
export async function redisTime(redis: Redis): Promise<number> {
  const [seconds, micros] = await redis.time();
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
}
