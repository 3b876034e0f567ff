import type { Tenant } from '@holdpoint/contract';
import { defaultTenant } from '@holdpoint/contract/names';
import type { Redis } from 'ioredis';
import { runIndexOf, tenantIndex } from './keys.ts';

/** Every tenant with at least one run so far. */
export const listTenants = async (redis: Redis): Promise<Tenant[]> => [
  defaultTenant,
  ...(await redis.smembers(tenantIndex)),
];

/** Ids of an index, oldest first, and only ids after `after` (exclusive). */
export function idsAfter(redis: Redis, index: string, after: string | undefined, limit: number): Promise<string[]> {
  return redis.zrangebylex(index, after === undefined ? '-' : `(${after}`, '+', 'LIMIT', 0, limit);
}

/** Pages of ids of an index, oldest first. */
export async function* pagesOf(redis: Redis, index: string, limit: number): AsyncGenerator<string[]> {
  for (let ids = await idsAfter(redis, index, undefined, limit); ids.length > 0; ) {
    yield ids;
    ids = await idsAfter(redis, index, ids.at(-1), limit);
  }
}

/** Pages of the ids of every run of every tenant. */
export async function* pagesOfRuns(redis: Redis, limit: number): AsyncGenerator<string[]> {
  for (const tenant of await listTenants(redis)) yield* pagesOf(redis, runIndexOf(tenant), limit);
}
