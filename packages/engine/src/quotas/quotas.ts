import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { personsKey, type Quotas, type QuotaUse, quotasSchema, type Tenant } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { EngineError } from '../domain/index.ts';

const storeScript = readFileSync(new URL('./store.lua', import.meta.url), 'utf8');

const prefix = 'hp:{quotas}:';
const limitsKey = `${prefix}limits`;
export const dayMs = 24 * 3_600_000;

/** Who a quota binds: a tenant, or a person of it. Persons have any form, and tenants have no colon. */
export interface Bound {
  tenant: Tenant;
  person?: string | undefined;
}
const nameOf = ({ tenant, person }: Bound): string =>
  person === undefined ? tenant : `${tenant}:${createHash('sha256').update(person).digest('hex').slice(0, 32)}`;

/** Quotas of a day count from midnight to midnight, UTC. */
const dayOf = (now: number): string => new Date(now).toISOString().slice(0, 10);
export const nextDay = (now: number): number => (Math.floor(now / dayMs) + 1) * dayMs;

export const activeOf = (bound: Bound): string => `${prefix}active:${nameOf(bound)}`;
export const runsOfDay = (bound: Bound, now: number): string => `${prefix}runs:${dayOf(now)}:${nameOf(bound)}`;
export const spentOfDay = (bound: Bound, now: number): string => `${prefix}spent:${dayOf(now)}:${nameOf(bound)}`;
export const chargedOf = (runId: string): string => `${prefix}charged:${runId}`;

export interface StoredQuotas {
  /** Grows with each change; 0: never set. */
  version: number;
  quotas: Quotas;
}

export async function readQuotas(redis: Redis, tenant: Tenant): Promise<StoredQuotas> {
  const text = await redis.hget(limitsKey, tenant);
  if (text === null) return { version: 0, quotas: quotasSchema.parse({}) };
  const at = text.indexOf(' ');
  return { version: Number(text.slice(0, at)), quotas: quotasSchema.parse(JSON.parse(text.slice(at))) };
}

/** @param after the version that was read; undefined: whatever is there @throws EngineError `quotas_changed` */
export async function writeQuotas(
  redis: Redis,
  tenant: Tenant,
  { quotas, after }: { quotas: Quotas; after?: number | undefined },
): Promise<StoredQuotas> {
  const version = await redis.eval(storeScript, 1, limitsKey, tenant, after ?? '', JSON.stringify(quotas));
  if (version === -1)
    throw new EngineError('quotas_changed', `the quotas of ${tenant} are not those of version ${after}`);
  return { version: Number(version), quotas };
}

/** The person of a caller's name; a name of several persons counts as one more. */
export async function personNamed(redis: Redis, tenant: Tenant, by: string): Promise<string> {
  const persons = await redis.smembers(personsKey(tenant, by));
  return persons.length === 0 ? by : persons.sort().join(' + ');
}

/** What a tenant or a person uses of its quotas now. */
export async function readUse(redis: Redis, bound: Bound, now: number): Promise<QuotaUse> {
  const [runs, spent] = await Promise.all([
    redis.scard(runsOfDay(bound, now)),
    redis.hmget(spentOfDay(bound, now), 'tokens', 'cost'),
  ]);
  return { runs_per_day: runs, tokens_per_day: Number(spent[0] ?? 0), cost_usd_per_day: Number(spent[1] ?? 0) / 1e6 };
}
