import { defaultTenant, isTerminal, type Tenant } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import type { EngineDeps } from '../deps.ts';
import { EngineError, isAbandoned } from '../domain/index.ts';
import { placeIndex, readRun } from '../log/index.ts';

type Deps = Pick<EngineDeps, 'redis' | 'now' | 'activeRuns'>;

/**
 * Counts a run among the active runs of its tenant, up to the cap. Sub-agents do not count: the limits of their run bound them. Runs do
 * not return their places: when all places are taken, the places of ended runs are freed.
 * @param again for an ended run that is to continue: its sequence number. The run keeps the place until the run changes, at most for a
 * minute
 * @throws EngineError `too_many_runs`
 */
export async function reservePlace(
  deps: Deps,
  runId: string,
  { tenant = defaultTenant, again }: { tenant?: Tenant | undefined; again?: number | undefined } = {},
): Promise<void> {
  const { redis, activeRuns: most } = deps;
  if (most === undefined) return;
  const mark = again === undefined ? 0 : markOf(again, deps.now());
  const take = async () => (await redis.eval(takeScript, 1, placeIndex(tenant), runId, most, mark)) === 1;
  if (await take()) return;
  await giveBack(deps, tenant);
  if (await take()) return;
  throw new EngineError('too_many_runs', `${most} runs of the tenant ${tenant} are active`);
}

/** Checks and adds in one script, so that requests at the same moment cannot pass the cap. */
const takeScript = `
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
return 1`;

/** A place that was taken again in the meantime stays. */
const giveBackScript = `
for at = 1, #ARGV, 2 do
  if tonumber(redis.call('ZSCORE', KEYS[1], ARGV[at]) or '') == tonumber(ARGV[at + 1]) then redis.call('ZREM', KEYS[1], ARGV[at]) end
end`;

async function giveBack({ redis, now }: Deps, tenant: Tenant): Promise<void> {
  const entries = await readPlaces(redis, tenant);
  const runs = await Promise.all(entries.map(({ id }) => readRun(redis, id)));
  const free = entries.filter(({ id, mark }, at) => {
    const run = runs[at];
    if (!run) return isAbandoned(id, now());
    return isTerminal(run.status) && !isContinuing(mark, run.seq, now());
  });
  if (free.length === 0) return;
  await redis.eval(giveBackScript, 1, placeIndex(tenant), ...free.flatMap(({ id, mark }) => [id, mark]));
}

async function readPlaces(redis: Redis, tenant: Tenant): Promise<{ id: string; mark: number }[]> {
  const read = await redis.zrange(placeIndex(tenant), '0', '-1', 'WITHSCORES');
  return Array.from({ length: read.length / 2 }, (_, at) => ({
    id: read[2 * at] ?? '',
    mark: Number(read[2 * at + 1]),
  }));
}

/** A score holds integers up to 2^53: the second of the request and the lower bits of the sequence number. */
const seqs = 2 ** 22;
const graceS = 60;
const markOf = (seq: number, now: number): number => Math.floor(now / 1000) * seqs + (seq % seqs);

/** Whether a request to continue the run is not recorded yet. After a minute its process is presumed dead. */
const isContinuing = (mark: number, seq: number, now: number): boolean =>
  mark !== 0 && mark % seqs === seq % seqs && now / 1000 - Math.floor(mark / seqs) < graceS;
