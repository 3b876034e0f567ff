import { giveNotices } from '../approvals/give-notices.ts';
import { dropRules } from '../approvals/manage-rules.ts';
import type { WorkerDeps } from '../deps.ts';
import { isAbandoned, nextNotice, noticesGiven, recordRepair } from '../domain/index.ts';
import {
  activeIndex,
  append,
  approvalIndexOf,
  countRepair,
  idsAfter,
  listTenants,
  ownerOf,
  readApproval,
  readRun,
  readStep,
  trackApproval,
} from '../log/index.ts';
import { diagnose, type Finding, orphanedJobs } from '../reconcile/diagnose.ts';
import { reconcile } from '../reconcile/reconcile.ts';

const page = 200;

/**
 * Repairs what a process left incomplete when it died between two writes: every active run gets the wake-ups that its state requires, the
 * index of approvals loses entries that are not pending, and orphaned jobs are released.
 */
export async function sweep(deps: WorkerDeps, signal: AbortSignal): Promise<void> {
  for await (const runId of walk(deps, activeIndex)) {
    if (signal.aborted) return;
    await repair(deps, runId, signal).catch((error: unknown) => {
      deps.logger.warn(
        { run_id: runId, err: error },
        'the sweeper could not repair a run; it tries again at the next sweep',
      );
    });
  }
  await giveNotices(deps, signal);
  for (const tenant of await listTenants(deps.redis)) {
    await dropRules(deps, tenant);
    for await (const approvalId of walk(deps, approvalIndexOf(tenant))) {
      if (signal.aborted) return;
      await unlistApproval(deps, approvalIndexOf(tenant), approvalId);
    }
  }
  for await (const { runId, stepId } of orphanedJobs(deps, signal)) {
    await report(deps, runId, { class: 'orphaned_delayed_job', subject: stepId });
    await deps.queues.releaseStep(stepId);
  }
  const woken = await deps.queues.wakeOversleeping();
  if (woken > 0) {
    deps.logger.warn({ jobs: woken }, 'woke jobs that a wrong clock had put off');
    await countRepair(deps, 'overslept', woken);
  }
}

async function unlistApproval(deps: WorkerDeps, index: string, approvalId: string): Promise<void> {
  const runId = await ownerOf(deps.redis, approvalId);
  const approval = runId === null ? undefined : await readApproval(deps.redis, runId, approvalId);
  if (approval ? approval.status !== 'pending' : isAbandoned(approvalId, deps.now()))
    await deps.redis.zrem(index, approvalId);
}

/** Sends the wake-ups that a run requires. Each stuck part is recorded in its log. */
async function repair(deps: WorkerDeps, runId: string, signal: AbortSignal): Promise<void> {
  const run = await readRun(deps.redis, runId);
  const findings = run ? await diagnose(deps, run) : [];
  for (const finding of findings) {
    await report(deps, runId, finding);
    if (finding.class === 'orphaned_delayed_job' && run) await deps.queues.wakeTurn(run, run.turn + 1);
    if (finding.class === 'approval_not_indexed') await listApproval(deps, runId, finding.subject);
  }
  await reconcile(deps, runId, signal);
}

/** Lists an approval again that a sweeper removed as abandoned: the sweeper's clock was ahead of the one that made the id. */
async function listApproval(deps: WorkerDeps, runId: string, stepId: string | undefined): Promise<void> {
  const found = stepId === undefined ? undefined : await readStep(deps.redis, runId, stepId);
  const id = found?.step.approval;
  const approval = id === undefined ? undefined : await readApproval(deps.redis, runId, id);
  if (approval === undefined) return;
  const noticeAt = nextNotice(approval.request, noticesGiven(approval));
  await trackApproval(deps.redis, approval.id, runId, noticeAt);
}

async function report(deps: WorkerDeps, runId: string, finding: Finding): Promise<void> {
  deps.logger.warn({ run_id: runId, ...finding }, 'repaired stuck run');
  await append(deps, runId, recordRepair(finding));
  await countRepair(deps, finding.class);
}

async function* walk(deps: WorkerDeps, index: string): AsyncGenerator<string> {
  let after: string | undefined;
  for (;;) {
    const ids = await idsAfter(deps.redis, index, after, page);
    yield* ids;
    after = ids.at(-1);
    if (ids.length < page) return;
  }
}
