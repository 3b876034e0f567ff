import type { Redis } from 'ioredis';
import type { Metrics } from '../ports/index.ts';
import { repairsKey } from './keys.ts';

/** Counts repairs, for `GET /v1/stuck`, `holdpoint doctor` and the metrics. */
export async function countRepair(deps: { redis: Redis; metrics: Metrics }, what: string, times = 1): Promise<void> {
  await deps.redis.hincrby(repairsKey, what, times);
  for (let time = 0; time < times; time++) deps.metrics.repaired(what);
}
