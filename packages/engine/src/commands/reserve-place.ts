import { defaultTenant, isTerminal, type Tenant } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import type { EngineDeps } from '../deps.ts';
import { EngineError, isAbandoned } from '../domain/index.ts';
import { placeIndex, readRun } from '../log/index.ts';

/**
 * Counts a run among those that its tenant may have active at once. Sub-agents do not count: the limits of their run bound them. Nothing
 * gives a place back: places of runs that have ended are looked for when all are taken.
 * @throws EngineError `too_many_runs`
 */
export async function reservePlace(
  deps: Pick<EngineDeps, 'redis' | 'now' | 'activeRuns'>,
  runId: string,
  tenant: Tenant = defaultTenant,
): Promise<void> {
  const { redis, activeRuns: most } = deps;
  if (most === undefined || (await take(redis, { tenant, runId, most }))) return;
  await giveBack(deps, tenant);
  if (await take(redis, { tenant, runId, most })) return;
  throw new EngineError('too_many_runs', `${most} runs of the tenant ${tenant} are active`);
}

/** Checks and adds in one script, so that requests at the same moment get no more places than there are. */
const script = `
if redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 1 end
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
return redis.call('ZADD', KEYS[1], 0, ARGV[1])`;

const take = async (redis: Redis, { tenant, runId, most }: { tenant: Tenant; runId: string; most: number }) =>
  (await redis.eval(script, 1, placeIndex(tenant), runId, most)) === 1;

async function giveBack({ redis, now }: Pick<EngineDeps, 'redis' | 'now'>, tenant: Tenant): Promise<void> {
  const ids = await redis.zrange(placeIndex(tenant), '0', '-1');
  const runs = await Promise.all(ids.map((id) => readRun(redis, id)));
  const free = ids.filter((id, at) => {
    const run = runs[at];
    return run ? isTerminal(run.status) : isAbandoned(id, now());
  });
  if (free.length > 0) await redis.zrem(placeIndex(tenant), ...free);
}
