import { defaultTenant, type Tenant } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { runField } from '../domain/fields/run.ts';
import { stateKey } from './keys.ts';

/** By connection: the tenants of runs seen by this process. A run never changes its tenant. */
const seen = new WeakMap<Redis, Map<string, Tenant>>();
const mostKept = 10_000;

export const knownTenant = (redis: Redis, runId: string): Tenant | undefined => seen.get(redis)?.get(runId);

/** @returns the tenant `default` when the run does not exist */
export const readTenant = async (redis: Redis, runId: string): Promise<Tenant> =>
  knownTenant(redis, runId) ?? ((await redis.hget(stateKey(runId), runField.tenant.name)) || defaultTenant);

/** @param run undefined: there is none */
export function knowTenant<Run extends { id: string; tenant?: Tenant | undefined }>(
  redis: Redis,
  run: Run | undefined,
): Run | undefined {
  if (run === undefined) return undefined;
  const known = seen.get(redis) ?? new Map<string, Tenant>();
  seen.set(redis, known);
  if (known.has(run.id)) return run;
  known.set(run.id, run.tenant ?? defaultTenant);
  if (known.size > mostKept) known.delete([...known.keys()][0] ?? '');
  return run;
}
