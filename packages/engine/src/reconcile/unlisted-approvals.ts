import type { WorkerDeps } from '../deps.ts';
import { nextNotice, noticesGiven, type RunState } from '../domain/index.ts';
import * as runLog from '../log/index.ts';

/**
 * The pending approvals of a run that no list has, with their steps; a publish approval has no step. Cause: Redis lost the entries, or a
 * sweeper removed the approvals as abandoned, because the sweeper's clock was ahead of the clock behind their ids.
 */
export async function unlistedApprovals(
  { redis }: WorkerDeps,
  run: RunState,
): Promise<{ id: string; stepId?: string }[]> {
  if (run.parked === 0) return [];
  const steps = run.open === 0 ? [] : await runLog.readTurnSteps(redis, run);
  const asked = steps.flatMap(({ id, status, approval }) =>
    approval !== undefined && (status === 'parked' || status === 'indeterminate') ? [{ id: approval, stepId: id }] : [],
  );
  const ofPublish =
    run.publication === 'parked' && run.publish_approval !== undefined ? [{ id: run.publish_approval }] : [];
  const found = await Promise.all(
    [...asked, ...ofPublish].map(async (one) => {
      if (await runLog.isApprovalListed(redis, one.id)) return [];
      return (await isPending(redis, run.id, one.id)) ? [one] : [];
    }),
  );
  return found.flat();
}

export async function listApproval({ redis }: WorkerDeps, runId: string, id: string): Promise<void> {
  const approval = await runLog.readApproval(redis, runId, id);
  if (approval?.status !== 'pending') return;
  await runLog.trackApproval(redis, id, runId, nextNotice(approval.request, noticesGiven(approval)));
  await runLog.ensureFacets(redis, runId, id);
  // The approval may have been decided while it was being listed.
  if (!(await isPending(redis, runId, id))) await runLog.untrackApproval(redis, id);
}

const isPending = async (redis: WorkerDeps['redis'], runId: string, id: string): Promise<boolean> =>
  (await runLog.readApproval(redis, runId, id))?.status === 'pending';
