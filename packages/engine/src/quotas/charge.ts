import { readFileSync } from 'node:fs';
import { defaultTenant, type Problem, type QuotaLimits, type Quotas } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { type RunState, usedByTree } from '../domain/index.ts';
import { ancestorsOf } from '../log/index.ts';
import * as quotas from './quotas.ts';

const script = readFileSync(new URL('./charge.lua', import.meta.url), 'utf8');
/** A run that used nothing for so long is charged from zero again. */
const keptMs = 365 * quotas.dayMs;

const spendable = ['tokens_per_day', 'cost_usd_per_day'] as const;
const boundsSpending = ({ tenant, person }: Quotas): boolean =>
  [tenant, person].some((limits) => spendable.some((quota) => limits[quota] !== undefined));

/**
 * Charges what a run and its sub-agents have used to the day, and says which quota is used up. Before each turn of a model: a turn that has
 * begun is never cut, so the turns in progress may pass a quota.
 */
export async function quotaUsedUp(redis: Redis, run: RunState, now: number): Promise<Problem | undefined> {
  const tenant = run.tenant ?? defaultTenant;
  const { quotas: given } = await quotas.readQuotas(redis, tenant);
  if (!boundsSpending(given)) return undefined;
  let root = run;
  for await (const above of ancestorsOf(redis, run)) root = above;
  const [own, person] = await chargeRun(redis, root, now);
  return (
    usedUp(given.tenant, own, `The tenant ${tenant}`, now) ?? usedUp(given.person, person, root.created_by ?? '', now)
  );
}

type Spent = Record<(typeof spendable)[number], number>;

/** @param root a run of no other run @returns what its tenant and its person have spent today */
export async function chargeRun(redis: Redis, root: RunState, now: number): Promise<[Spent, Spent]> {
  const tenant = root.tenant ?? defaultTenant;
  const person = await quotas.personNamed(redis, tenant, root.created_by ?? '');
  const { input_tokens, output_tokens, cost_micros } = usedByTree(root, now);
  const keys = [
    quotas.chargedOf(root.id),
    quotas.spentOfDay({ tenant }, now),
    quotas.spentOfDay({ tenant, person }, now),
  ];
  const used = [input_tokens + output_tokens, cost_micros, keptMs, 2 * quotas.dayMs];
  const spent = (await redis.eval(script, keys.length, ...keys, ...used)) as string[];
  const sums = spent.map(Number);
  const of = (at: number): Spent => ({ tokens_per_day: sums[at] ?? 0, cost_usd_per_day: (sums[at + 1] ?? 0) / 1e6 });
  return [of(0), of(2)];
}

function usedUp(limits: QuotaLimits, spent: Spent, whose: string, now: number): Problem | undefined {
  const quota = spendable.find((one) => limits[one] !== undefined && spent[one] >= (limits[one] ?? 0));
  if (quota === undefined) return undefined;
  const frees = new Date(quotas.nextDay(now)).toISOString();
  return {
    code: 'quota_reached',
    message: `${whose} has used ${spent[quota]} of ${limits[quota]} of today (${quota}).`,
    next: `The quota frees at ${frees}: resume the run then, or have the operator raise it (holdpoint quotas set).`,
  };
}
