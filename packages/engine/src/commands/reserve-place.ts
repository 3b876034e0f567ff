import { defaultTenant, isTerminal, type Tenant } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import type { EngineDeps } from '../deps.ts';
import { EngineError, isAbandoned } from '../domain/index.ts';
import { placeIndex, readRun } from '../log/index.ts';
import { chargeRun, personNamed, quotaError, readQuotas, reserveRun } from '../quotas/index.ts';

type Deps = Pick<EngineDeps, 'redis' | 'now' | 'activeRuns'>;

/**
 * Counts a run for the quotas of its tenant and its person, and among the active runs of its tenant up to the cap. Sub-agents do not count:
 * the limits of their run bound them. Runs do not return their places: when all places are taken, the places of ended runs are freed.
 * @param by who submits the run; for a run that continues, who submitted it
 * @param again for an ended run that is to continue: its sequence number. The run keeps the place until the run changes, at most for a
 * minute
 * @throws EngineError `too_many_runs`, `quota_reached`
 */
export async function reservePlace(
  deps: Deps,
  runId: string,
  { tenant = defaultTenant, by, again }: { tenant?: Tenant | undefined; by?: string | undefined; again?: number } = {},
): Promise<void> {
  const { redis, activeRuns } = deps;
  const now = deps.now();
  const { version, quotas } = await readQuotas(redis, tenant);
  if (version === 0 && activeRuns === undefined) return;
  // The names of keys change persons rarely, and a tenant without quotas needs none.
  const person = version === 0 || by === undefined ? undefined : await personNamed(redis, tenant, by);
  const mark = again === undefined ? 0 : markOf(again, now);
  if (version > 0) await chargeEnded(deps, tenant);
  const take = () =>
    reserveRun(redis, { runId, tenant, person, mark, isNew: again === undefined, activeRuns, now }, quotas);
  let refused = await take();
  if (refused?.active !== undefined) {
    await giveBack(deps, refused.active);
    refused = await take();
  }
  if (refused === undefined) return;
  if (refused.quota === 'runs_at_once' && refused.of.person === undefined && refused.most === activeRuns) {
    throw new EngineError('too_many_runs', `${activeRuns} runs of the tenant ${tenant} are active`);
  }
  throw quotaError(refused, now);
}

const chargedEvery = 5;

/** What the last turns of runs used is charged here: a run is charged before each turn, and none follows its last. */
async function chargeEnded({ redis, now }: Deps, tenant: Tenant): Promise<void> {
  if ((await redis.set(`hp:{quotas}:charging:${tenant}`, '1', 'EX', chargedEvery, 'NX')) === null) return;
  const runs = await Promise.all((await readPlaces(redis, placeIndex(tenant))).map(({ id }) => readRun(redis, id)));
  for (const run of runs) if (run !== undefined) await chargeRun(redis, run, now());
  await giveBack({ redis, now }, placeIndex(tenant));
}

/** A place that was taken again in the meantime stays. */
const giveBackScript = `
for at = 1, #ARGV, 2 do
  if tonumber(redis.call('ZSCORE', KEYS[1], ARGV[at]) or '') == tonumber(ARGV[at + 1]) then redis.call('ZREM', KEYS[1], ARGV[at]) end
end`;

async function giveBack({ redis, now }: Deps, index: string): Promise<void> {
  const entries = await readPlaces(redis, index);
  const runs = await Promise.all(entries.map(({ id }) => readRun(redis, id)));
  const free = entries.filter(({ id, mark }, at) => {
    const run = runs[at];
    if (!run) return isAbandoned(id, now());
    return isTerminal(run.status) && !isContinuing(mark, run.seq, now());
  });
  if (free.length === 0) return;
  await redis.eval(giveBackScript, 1, index, ...free.flatMap(({ id, mark }) => [id, mark]));
}

async function readPlaces(redis: Redis, index: string): Promise<{ id: string; mark: number }[]> {
  const read = await redis.zrange(index, '0', '-1', 'WITHSCORES');
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
