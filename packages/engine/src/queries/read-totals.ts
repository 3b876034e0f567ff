import { isTerminal } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { timeOfId } from '../domain/index.ts';
import { approvalIndexOf, countByStanding, firstExpiry, listTenants } from '../log/index.ts';

/** Counts of the whole installation, from indexes. Reads no run. */
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
}

export async function readTotals(redis: Redis): Promise<Totals> {
  const tenants = await listTenants(redis);
  const sums = await Promise.all(
    tenants.map(async (tenant) => {
      const pending = approvalIndexOf(tenant);
      const [standings, approvals, [oldest], expiryAt] = await Promise.all([
        countByStanding(redis, tenant),
        redis.zcard(pending),
        redis.zrange(pending, '0', '0'),
        firstExpiry(redis, tenant),
      ]);
      const oldestAt = oldest === undefined ? Number.POSITIVE_INFINITY : timeOfId(oldest);
      return { standings, approvals, oldestAt, expiryAt };
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
  return {
    active: [...counts.values()],
    ended,
    approvals: sums.reduce((sum, one) => sum + one.approvals, 0),
    oldestApprovalAt: Number.isFinite(oldest) ? oldest : undefined,
    nextExpiryAt: Number.isFinite(expiry) ? expiry : undefined,
  };
}
