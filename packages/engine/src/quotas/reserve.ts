import { readFileSync } from 'node:fs';
import type { QuotaLimits, Quotas, Tenant } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { EngineError } from '../domain/index.ts';
import { placeIndex } from '../log/index.ts';
import * as quotas from './quotas.ts';

const script = readFileSync(new URL('./reserve.lua', import.meta.url), 'utf8');

/** A set of runs or a sum that a quota bounds. */
interface Counted {
  key: string;
  most: number | undefined;
  quota: keyof QuotaLimits;
  of: quotas.Bound;
}

export interface Reservation {
  runId: string;
  tenant: Tenant;
  /** Undefined: the quotas of persons do not count, as for a run without a known submitter. */
  person: string | undefined;
  mark: number;
  /** A run that continues counted on the day of its submit. */
  isNew: boolean;
  /** HOLDPOINT_TENANT_RUNS. */
  activeRuns: number | undefined;
  now: number;
}

/** Why a run is refused. */
export interface Refused {
  quota: keyof QuotaLimits;
  of: quotas.Bound;
  most: number;
  used: number;
  /** The set of active runs, where some of them may have ended. */
  active: string | undefined;
}

/** Counts a run for its tenant and its person in one script, so that requests at the same moment cannot pass a quota. */
export async function reserveRun(redis: Redis, asked: Reservation, given: Quotas): Promise<Refused | undefined> {
  const { active, days, spent } = countedOf(asked, given);
  const all = [...active, ...days, ...spent.map(({ tokens }) => tokens)];
  if (all.length === 0) return undefined;
  const bounds = [
    ...[...active, ...days].map(({ most }) => most ?? ''),
    ...spent.flatMap(({ tokens, cost }) => [
      tokens.most ?? '',
      cost.most === undefined ? '' : Math.round(cost.most * 1e6),
    ]),
  ];
  const counts = [active.length, days.length, 2 * quotas.dayMs];
  const reply = await redis.eval(
    script,
    all.length,
    ...all.map(({ key }) => key),
    asked.runId,
    asked.mark,
    ...counts,
    ...bounds,
  );
  const [at, what, used] = reply as [number, string, string];
  if (at === undefined) return undefined;
  const sum = spent[at - active.length - days.length - 1];
  const one = (what === 'cost' ? sum?.cost : all[at - 1]) as Counted;
  return {
    ...{ quota: one.quota, of: one.of, most: one.most ?? 0, used: what === 'cost' ? Number(used) / 1e6 : Number(used) },
    active: one.quota === 'runs_at_once' ? one.key : undefined,
  };
}

function countedOf({ tenant, person, isNew, activeRuns, now }: Reservation, given: Quotas) {
  const bounds: { of: quotas.Bound; limits: QuotaLimits }[] = [{ of: { tenant }, limits: given.tenant }];
  if (person !== undefined) bounds.push({ of: { tenant, person }, limits: given.person });
  const atOnce = bounds.map(({ of, limits }): Counted => {
    const isTenant = of.person === undefined;
    const most = isTenant ? least(activeRuns, limits.runs_at_once) : limits.runs_at_once;
    return { key: isTenant ? placeIndex(tenant) : quotas.activeOf(of), most, quota: 'runs_at_once', of };
  });
  return {
    // The active runs of a tenant are also those whose use is charged later.
    active: atOnce.filter(({ most, of }) => most !== undefined || of.person === undefined),
    days: !isNew
      ? []
      : bounds.map(
          ({ of, limits }): Counted => ({
            key: quotas.runsOfDay(of, now),
            most: limits.runs_per_day,
            quota: 'runs_per_day',
            of,
          }),
        ),
    spent: bounds.map(({ of, limits }) => {
      const key = quotas.spentOfDay(of, now);
      return {
        tokens: { key, most: limits.tokens_per_day, quota: 'tokens_per_day', of } satisfies Counted,
        cost: { key, most: limits.cost_usd_per_day, quota: 'cost_usd_per_day', of } satisfies Counted,
      };
    }),
  };
}

const least = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);

/** With which quota, and when it frees. */
export function quotaError({ quota, of, most, used }: Refused, now: number): EngineError {
  const whose = of.person === undefined ? `the tenant ${of.tenant}` : of.person;
  if (quota === 'runs_at_once') {
    const next =
      'Wait until a run has ended, or cancel one; or have the operator raise the quota (holdpoint quotas set).';
    return new EngineError('quota_reached', `${used} of ${most} runs at once of ${whose} are active (runs_at_once)`, {
      next,
    });
  }
  const frees = quotas.nextDay(now);
  return new EngineError('quota_reached', `${whose} has used ${used} of ${most} of today (${quota})`, {
    next: `It frees at ${new Date(frees).toISOString()}; or have the operator raise the quota (holdpoint quotas set).`,
    retryAfterS: Math.ceil((frees - now) / 1000),
  });
}
