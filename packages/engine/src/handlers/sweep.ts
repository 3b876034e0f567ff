import type { Tenant } from '@holdpoint/contract';
import { giveNotices } from '../approvals/give-notices.ts';
import { dropRules } from '../approvals/remembered-rules.ts';
import type { WorkerDeps } from '../deps.ts';
import { isAbandoned, type RunState } from '../domain/index.ts';
import * as runLog from '../log/index.ts';
import { orphanedJobs } from '../reconcile/diagnose.ts';
import { lookAtRuns, report } from './look-at-runs.ts';
import { nextSlice, type Pace } from './set-slices.ts';

/** Defects that only cost time, or hide nothing, are searched in slices: a full round takes at most this long. */
const roundMs = 10 * 60_000;
const least = 100;

/**
 * Repairs the state that a process left incomplete by dying between two writes: active runs get their missing wake-ups, the index of
 * approvals loses entries that are not pending, and orphaned jobs are released. Reads the due and changed entries, and a slice of the
 * rest.
 * @param pace.whole look at everything in this sweep
 */
export async function sweep(
  deps: WorkerDeps,
  signal: AbortSignal,
  { everyMs = 5000, whole = false }: Partial<Pace> = {},
): Promise<void> {
  const slices = (key: string, name = key) => nextSlice(deps.redis, { key, name, roundMs, least }, { everyMs, whole });
  await lookAtRuns(deps, signal, { everyMs, whole });
  await giveNotices(deps, signal);
  for (const tenant of await runLog.listTenants(deps.redis)) {
    for await (const ids of slices(runLog.runIndexOf(tenant))) {
      if (signal.aborted) return;
      const corrected = await runLog.correctLists(deps.redis, tenant, ids);
      if (corrected === 0) continue;
      deps.logger.warn({ runs: corrected }, 'runs were missing in a list, or in a wrong one');
      await runLog.countRepair(deps, 'unlisted', corrected);
    }
    for await (const entries of slices(runLog.ruleIndexOf(tenant))) await dropRules(deps, tenant, entries);
    for await (const ids of slices(runLog.approvalIndexOf(tenant))) {
      if (signal.aborted) return;
      await Promise.all(ids.map((id) => correctApproval(deps, tenant, id)));
    }
  }
  for await (const ids of slices(deps.queues.steps.toKey('delayed'), 'orphans')) {
    if (signal.aborted) return;
    const seen = new Map<string, RunState>();
    for (const { run, stepId } of await orphanedJobs(deps, ids)) {
      const finding = { class: 'orphaned_delayed_job', subject: stepId } as const;
      const now = await report(deps, seen.get(run.id) ?? run, finding);
      if (now) seen.set(run.id, now);
      await deps.queues.releaseStep(stepId);
    }
  }
  const woken = await deps.queues.wakeOversleeping(slices);
  if (woken > 0) {
    deps.logger.warn({ jobs: woken }, 'woke jobs that a wrong clock had put off');
    await runLog.countRepair(deps, 'overslept', woken);
  }
}

/** Removes an entry whose approval is not pending, and adds the missing lists of an approval. */
async function correctApproval(deps: WorkerDeps, tenant: Tenant, approvalId: string): Promise<void> {
  const { redis } = deps;
  const runId = await runLog.ownerOf(redis, approvalId);
  const approval = runId === null ? undefined : await runLog.readApproval(redis, runId, approvalId);
  if (approval ? approval.status !== 'pending' : isAbandoned(approvalId, deps.now())) {
    if (approval === undefined || runId === null) await runLog.unlistAsked(redis, tenant, approvalId);
    else await runLog.correctHistory(redis, runId, approvalId);
    // Without an owner the tenant is unknown, but the index is known.
    await Promise.all([
      redis.zrem(runLog.approvalIndexOf(tenant), approvalId),
      runLog.untrackApproval(redis, approvalId),
    ]);
    return;
  }
  if (approval === undefined || runId === null) return;
  const hadFacets = !(await runLog.ensureFacets(redis, runId, approvalId));
  const isSound = await runLog.hasSoundHistory(redis, tenant, approvalId);
  const wrong = isSound ? 0 : await runLog.correctHistory(redis, runId, approvalId);
  if (!hadFacets || wrong > 0) await runLog.countRepair(deps, 'unlisted');
}
