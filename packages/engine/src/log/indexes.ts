import { defaultTenant, type Tenant, tenantSchema } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { runField } from '../domain/fields/run.ts';
import { unlistFacets } from './approval-lists.ts';
import * as keys from './keys.ts';
import { readTenant } from './known-tenants.ts';

/**
 * Indexes find runs, steps and approvals; they are never the truth. Each entry is written before its append, so everything in a log can be
 * found. Readers skip an entry without its append, and the sweeper removes the entry.
 */

export async function trackRun(redis: Redis, runId: string, tenant: Tenant = defaultTenant): Promise<void> {
  // First: garbage collection looks at the runs of every listed tenant.
  if (tenant !== defaultTenant) await redis.sadd(keys.tenantIndex, tenant);
  await Promise.all([redis.zadd(keys.runIndexOf(tenant), 0, runId), trackActive(redis, runId)]);
}

/** The tenant of a run; undefined when the run does not exist. */
export async function tenantOf(redis: Redis, runId: string): Promise<Tenant | undefined> {
  const [status, tenant] = await redis.hmget(keys.stateKey(runId), runField.status.name, runField.tenant.name);
  return status == null ? undefined : tenantSchema.parse(tenant ?? defaultTenant);
}

/** The next sweep looks at the run. */
export async function trackActive(redis: Redis, runId: string): Promise<void> {
  await Promise.all([redis.zadd(keys.activeIndex, 0, runId), lookSoon(redis, runId)]);
}

export async function untrackActive(redis: Redis, runId: string): Promise<void> {
  await Promise.all([
    redis.zrem(keys.activeIndex, runId),
    redis.zrem(keys.lookIndex, runId),
    redis.hdel(keys.idleFactsKey, runId),
  ]);
}

/** Call before an append: the writer may die before sending the wake-up. */
export async function lookSoon(redis: Redis, runId: string): Promise<void> {
  await redis.zadd(keys.lookIndex, soon(), runId);
}

/**
 * A score due at every sweep, whatever clocks say. Two scores of a run differ, so a sweep notices when the run was named again during its
 * look.
 */
const soon = (): number => -(Date.now() + Math.random());

/** Records the run of these steps or approvals. */
export async function claimOwner(redis: Redis, runId: string, ids: readonly string[]): Promise<void> {
  await Promise.all(ids.map((id) => redis.set(keys.ownerKey(id), runId)));
}

export const ownerOf = (redis: Redis, id: string): Promise<string | null> => redis.get(keys.ownerKey(id));

/** @param noticeAt when the sweep has to remind or escalate, milliseconds since the epoch */
export async function trackApproval(redis: Redis, approvalId: string, runId: string, noticeAt?: number): Promise<void> {
  await claimOwner(redis, runId, [approvalId]);
  if (noticeAt !== undefined) await redis.zadd(keys.noticeIndex, noticeAt, approvalId);
  await redis.zadd(await indexOfApproval(redis, approvalId), 0, approvalId);
}

export const isApprovalListed = async (redis: Redis, approvalId: string): Promise<boolean> =>
  (await redis.zscore(await indexOfApproval(redis, approvalId), approvalId)) !== null;

export async function untrackApproval(redis: Redis, approvalId: string): Promise<void> {
  const tenant = await tenantOfApproval(redis, approvalId);
  // The index goes last: the sweeper corrects the lists of what the index has.
  await Promise.all([
    unlistFacets(redis, tenant, approvalId),
    redis.zrem(keys.noticeIndex, approvalId),
    redis.zrem(keys.approvalIndexOf(tenant), approvalId),
  ]);
}

/** An approval is listed with the tenant of its run. */
async function tenantOfApproval(redis: Redis, approvalId: string): Promise<Tenant> {
  const runId = await ownerOf(redis, approvalId);
  return runId === null ? defaultTenant : readTenant(redis, runId);
}

const indexOfApproval = async (redis: Redis, approvalId: string): Promise<string> =>
  keys.approvalIndexOf(await tenantOfApproval(redis, approvalId));

/** Ids of an index, newest first, and only ids after `before` (exclusive). */
export function idsBefore(redis: Redis, index: string, before: string | undefined, limit: number): Promise<string[]> {
  return redis.zrevrangebylex(index, before === undefined ? '+' : `(${before}`, '-', 'LIMIT', 0, limit);
}
