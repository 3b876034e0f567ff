import type { WorkerDeps } from '../deps.ts';
import { type RunState, recordRepair } from '../domain/index.ts';
import { activeIndex, append, countRepair, idleFactsKey, idsAfter, lookIndex, readRun } from '../log/index.ts';
import { diagnose, type Finding, hasOrphanedTurn, waitsForFreePlace } from '../reconcile/diagnose.ts';
import { findChanged, readOutlook } from '../reconcile/idle-facts.ts';
import { reconcile } from '../reconcile/reconcile.ts';
import { listApproval, unlistedApprovals } from '../reconcile/unlisted-approvals.ts';
import { nextSlice, type Pace } from './set-slices.ts';

const page = 200;
/** Looks wait for Redis, not for the processor. */
const atOnce = 8;
/** Each active run is compared with the facts of its last look within this time. */
const roundMs = 5 * 60_000;
const least = 100;

/**
 * Sends active runs their missing wake-ups. Looks at the runs that are due, and at the other runs that changed, lost a job or were never
 * looked at. So a run at rest costs only a few commands every few minutes.
 */
export async function lookAtRuns(deps: WorkerDeps, signal: AbortSignal, pace: Pace): Promise<void> {
  const looked = new Set<string>();
  const look = async (runId: string, score: string | undefined): Promise<void> => {
    if (looked.has(runId)) return;
    looked.add(runId);
    await lookAtRun(deps, runId, { score, signal }).catch((error: unknown) => {
      deps.logger.warn(
        { run_id: runId, err: error },
        'the sweeper could not repair a run; it tries again at the next sweep',
      );
    });
  };
  const due = await deps.redis.zrangebyscore(lookIndex, '-inf', deps.now(), 'WITHSCORES');
  for (let at = 0; at < due.length && !signal.aborted; at += 2 * atOnce) {
    const some = due.slice(at, at + 2 * atOnce);
    await Promise.all(some.map((id, place) => (place % 2 === 0 ? look(id, some[place + 1]) : undefined)));
  }
  const others = pace.whole ? pagesOfActive(deps) : nextSlice(deps.redis, { key: activeIndex, roundMs, least }, pace);
  for await (const ids of others) {
    const scores = await deps.redis.zmscore(lookIndex, ...ids);
    const restless = new Set(pace.whole ? ids : await findChanged(deps, ids));
    for (const [at, id] of ids.entries()) {
      if (signal.aborted) return;
      const score = scores[at] ?? undefined;
      if (score === undefined || restless.has(id)) await look(id, score);
    }
  }
}

async function* pagesOfActive({ redis }: WorkerDeps): AsyncGenerator<string[]> {
  let after: string | undefined;
  for (;;) {
    const ids = await idsAfter(redis, activeIndex, after, page);
    if (ids.length > 0) yield ids;
    after = ids.at(-1);
    if (ids.length < page) return;
  }
}

interface Look {
  /** The due time of the look, as listed in the index; undefined: the index does not list the run. */
  score: string | undefined;
  signal: AbortSignal;
}

async function lookAtRun(deps: WorkerDeps, runId: string, { score, signal }: Look): Promise<void> {
  await repair(deps, runId, signal);
  const outlook = await readOutlook(deps, runId);
  if (outlook === undefined) return;
  if (outlook.facts !== undefined) await deps.redis.hset(idleFactsKey, runId, JSON.stringify(outlook.facts));
  await deps.redis.eval(reschedule, 1, lookIndex, runId, score ?? '', outlook.next);
}

/** Reschedules the run, unless another process changed the run's entry during the look: the new entry stays. */
const reschedule = `if (redis.call('ZSCORE', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
return 1`;

/**
 * Sends the wake-ups that a run requires. Each stuck part is recorded in the run's log, unless the run changed during the look: a missing
 * job may have done its work after its step was read. Stuck parts without a record are repaired as well, so a run that changes often does
 * not wait for another look.
 */
async function repair(deps: WorkerDeps, runId: string, signal: AbortSignal): Promise<void> {
  const run = await readRun(deps.redis, runId);
  let seen = run;
  for (const finding of run ? await diagnose(deps, run) : []) {
    seen = seen && (await report(deps, seen, finding));
    if (seen === undefined) break;
  }
  const now = await readRun(deps.redis, runId);
  if (now !== undefined) {
    if ((await hasOrphanedTurn(deps, now)) || (await waitsForFreePlace(deps, now)))
      await deps.queues.wakeTurn(now, now.turn + 1);
    for (const { id } of await unlistedApprovals(deps, now)) await listApproval(deps, runId, id);
  }
  await reconcile(deps, runId, signal);
}

/**
 * @returns the run after the record; undefined: the run has changed since the caller read the run, so the finding may be over, and nothing
 * is recorded
 */
export async function report(deps: WorkerDeps, run: RunState, finding: Finding): Promise<RunState | undefined> {
  const recorded = await append(deps, run.id, recordRepair(run, finding));
  if (!recorded.ok) return undefined;
  deps.logger.warn({ run_id: run.id, ...finding }, 'repaired stuck run');
  await countRepair(deps, finding.class);
  return { ...run, seq: recorded.seq };
}
