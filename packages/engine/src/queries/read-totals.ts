import { isTerminal, type Tenant } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { runField } from '../domain/fields/run.ts';
import { timeOfId } from '../domain/index.ts';
import * as runLog from '../log/index.ts';

/** Counts of the whole installation, from indexes, and the status of the runs that stand paused. */
export interface Totals {
  /** Active runs by state, and by the reason of a wait or a pause. */
  active: { state: string; reason: string | undefined; count: number }[];
  /** Runs that are over and kept. */
  ended: number;
  approvals: number;
  /** When the oldest pending approval was requested, milliseconds since the epoch. */
  oldestApprovalAt: number | undefined;
  /** When the first pending approval expires. */
  nextExpiryAt: number | undefined;
  /** When something was last recorded about the paused run that has stood longest. */
  oldestPauseAt: number | undefined;
}

export async function readTotals(redis: Redis): Promise<Totals> {
  const tenants = await runLog.listTenants(redis);
  const sums = await Promise.all(
    tenants.map(async (tenant) => {
      const pending = runLog.approvalIndexOf(tenant);
      const [standings, approvals, [oldest], expiryAt, pausedAt] = await Promise.all([
        runLog.countByStanding(redis, tenant),
        redis.zcard(pending),
        redis.zrange(pending, '0', '0'),
        runLog.firstExpiry(redis, tenant),
        longestPaused(redis, tenant),
      ]);
      const oldestAt = oldest === undefined ? Number.POSITIVE_INFINITY : timeOfId(oldest);
      return { standings, approvals, oldestAt, expiryAt, pausedAt };
    }),
  );
  const counts = new Map<string, Totals['active'][number]>();
  let ended = 0;
  for (const { status: state, reason, count } of sums.flatMap(({ standings }) => standings)) {
    if (isTerminal(state)) ended += count;
    else {
      const key = `${state} ${reason}`;
      counts.set(key, { state, reason, count: count + (counts.get(key)?.count ?? 0) });
    }
  }
  const oldest = Math.min(...sums.map(({ oldestAt }) => oldestAt));
  const expiry = Math.min(...sums.map(({ expiryAt }) => expiryAt));
  const paused = Math.min(...sums.map(({ pausedAt }) => pausedAt));
  return {
    active: [...counts.values()],
    ended,
    approvals: sums.reduce((sum, one) => sum + one.approvals, 0),
    oldestApprovalAt: Number.isFinite(oldest) ? oldest : undefined,
    nextExpiryAt: Number.isFinite(expiry) ? expiry : undefined,
    oldestPauseAt: Number.isFinite(paused) ? paused : undefined,
  };
}

/** Paused runs of a tenant that are looked at, the oldest first. */
const mostPaused = 200;

/** Infinity: none is paused. The list may name runs that are no longer paused. */
async function longestPaused(redis: Redis, tenant: Tenant): Promise<number> {
  const listed = await redis.zrange(runLog.statusIndexOf(tenant, 'paused'), '0', String(mostPaused - 1));
  const reads = listed.map((id) => ['hget', runLog.stateKey(id), runField.status.name]);
  const statuses = listed.length === 0 ? [] : ((await redis.pipeline(reads).exec()) ?? []);
  const paused = listed.filter((_, at) => statuses[at]?.[1] === 'paused');
  const times = paused.length === 0 ? [] : await runLog.lastEventTimes(redis, paused);
  return Math.min(...times.map((time) => time ?? Number.POSITIVE_INFINITY));
}
