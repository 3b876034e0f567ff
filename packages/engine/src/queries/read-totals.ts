import { isTerminal, runStatusSchema } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { runField, timeOfId } from '../domain/index.ts';
import { activeIndex, approvalIndexOf, listTenants, pagesOf, runIndexOf } from '../log/index.ts';
import { stateKey } from '../log/keys.ts';
import { readNextExpiry } from './read-next-expiry.ts';

/** Counts of the whole installation, from indexes and a few fields of the active runs. Reads no log. */
export interface Totals {
  /** Active runs by state, and by what they wait for or why they are paused. */
  active: { state: string; reason: string | undefined; count: number }[];
  /** Runs that are over and kept. */
  ended: number;
  approvals: number;
  /** When the oldest pending approval was requested, milliseconds since the epoch. */
  oldestApprovalAt: number | undefined;
  /** When the first pending approval expires, among the oldest 1,000 of each tenant. */
  nextExpiryAt: number | undefined;
}

const runsAtOnce = 500;

export async function readTotals(redis: Redis): Promise<Totals> {
  const counts = new Map<string, Totals['active'][number]>();
  let active = 0;
  for await (const ids of pagesOf(redis, activeIndex, runsAtOnce)) {
    for (const one of await readStates(redis, ids)) {
      if (one === undefined) continue;
      active++;
      const key = JSON.stringify(one);
      const counted = counts.get(key) ?? { ...one, count: 0 };
      counted.count++;
      counts.set(key, counted);
    }
  }
  const tenants = await listTenants(redis);
  const sums = await Promise.all(
    tenants.map(async (tenant) => {
      const pending = approvalIndexOf(tenant);
      const [runs, approvals, [oldest], expiryAt] = await Promise.all([
        redis.zcard(runIndexOf(tenant)),
        redis.zcard(pending),
        redis.zrange(pending, '0', '0'),
        readNextExpiry(redis, pending),
      ]);
      const oldestAt = oldest === undefined ? Number.POSITIVE_INFINITY : timeOfId(oldest);
      return { runs, approvals, oldestAt, expiryAt };
    }),
  );
  const runs = sums.reduce((sum, one) => sum + one.runs, 0);
  const oldest = Math.min(...sums.map(({ oldestAt }) => oldestAt));
  const expiry = Math.min(...sums.map(({ expiryAt }) => expiryAt));
  return {
    active: [...counts.values()],
    ended: Math.max(0, runs - active),
    approvals: sums.reduce((sum, one) => sum + one.approvals, 0),
    oldestApprovalAt: Number.isFinite(oldest) ? oldest : undefined,
    nextExpiryAt: Number.isFinite(expiry) ? expiry : undefined,
  };
}

const { status, reason, parked, awaits_calls: awaitsCalls } = runField;

/** Undefined for a run that has ended, or is only in the index. */
async function readStates(redis: Redis, ids: readonly string[]) {
  const commands = ids.map((id) => ['hmget', stateKey(id), status.name, reason.name, parked.name, awaitsCalls.name]);
  const replies = (await redis.pipeline(commands).exec()) ?? [];
  return replies.map(([error, reply]) => {
    if (error) throw error;
    const [state, why, waiting, awaiting] = reply as (string | null)[];
    const known = runStatusSchema.safeParse(state);
    if (!known.success || isTerminal(known.data)) return undefined;
    if (known.data === 'paused') return { state: known.data, reason: codeOf(why) };
    if (known.data !== 'waiting') return { state: known.data, reason: undefined };
    if (Number(waiting ?? 0) > 0) return { state: known.data, reason: 'approval' };
    return { state: known.data, reason: awaiting == null ? 'task' : 'calls' };
  });
}

function codeOf(reason: string | null | undefined): string {
  const given = reason == null ? {} : (JSON.parse(reason) as { code?: unknown });
  return typeof given.code === 'string' ? given.code : 'unknown';
}
