import type { Redis } from 'ioredis';
import { activeIndex, approvalIndex, ownerKey, runIndex } from './keys.ts';

/**
 * Indexes find runs, steps and approvals; they are never the truth. Each entry is written before the append that makes it true, so that
 * everything in a log can be found. Readers skip an entry without its append, and the sweeper removes it.
 */

export async function trackRun(redis: Redis, runId: string): Promise<void> {
  await Promise.all([redis.zadd(runIndex, 0, runId), redis.zadd(activeIndex, 0, runId)]);
}

export async function trackActive(redis: Redis, runId: string): Promise<void> {
  await redis.zadd(activeIndex, 0, runId);
}

export async function untrackActive(redis: Redis, runId: string): Promise<void> {
  await redis.zrem(activeIndex, runId);
}

/** Records which run these steps or approvals belong to. */
export async function claimOwner(redis: Redis, runId: string, ids: readonly string[]): Promise<void> {
  await Promise.all(ids.map((id) => redis.set(ownerKey(id), runId)));
}

export const ownerOf = (redis: Redis, id: string): Promise<string | null> => redis.get(ownerKey(id));

export async function trackApproval(redis: Redis, approvalId: string, runId: string): Promise<void> {
  await claimOwner(redis, runId, [approvalId]);
  await redis.zadd(approvalIndex, 0, approvalId);
}

export const isApprovalListed = async (redis: Redis, approvalId: string): Promise<boolean> =>
  (await redis.zscore(approvalIndex, approvalId)) !== null;

export async function untrackApproval(redis: Redis, approvalId: string): Promise<void> {
  await redis.zrem(approvalIndex, approvalId);
}

/** Ids of an index, newest first, those after `before` (exclusive) only. */
export function idsBefore(redis: Redis, index: string, before: string | undefined, limit: number): Promise<string[]> {
  return redis.zrevrangebylex(index, before === undefined ? '+' : `(${before}`, '-', 'LIMIT', 0, limit);
}

/** Ids of an index, oldest first, those after `after` (exclusive) only. */
export function idsAfter(redis: Redis, index: string, after: string | undefined, limit: number): Promise<string[]> {
  return redis.zrangebylex(index, after === undefined ? '-' : `(${after}`, '+', 'LIMIT', 0, limit);
}
