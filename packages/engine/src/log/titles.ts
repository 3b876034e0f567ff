import type { Tenant } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { titlesKey } from './keys.ts';

/** The form in which titles are compared: upper and lower case are the same. */
export const foldTitle = (text: string): string => text.normalize('NFC').toLowerCase();

/** Keeps a title for searches. A run never changes its title. */
export const keepTitle = (redis: Redis, tenant: Tenant, runId: string, title: string): Promise<number> =>
  redis.hset(titlesKey(tenant), runId, foldTitle(title));

/** Keeps the titles of older runs, which no process kept at their creation. */
export async function keepMissingTitles(
  redis: Redis,
  tenant: Tenant,
  titles: ReadonlyMap<string, string>,
): Promise<void> {
  if (titles.size === 0) return;
  const ids = [...titles.keys()];
  const kept = await redis.hmget(titlesKey(tenant), ...ids);
  const missing = ids.filter((_, at) => kept[at] === null);
  await Promise.all(missing.map((id) => keepTitle(redis, tenant, id, titles.get(id) ?? '')));
}
