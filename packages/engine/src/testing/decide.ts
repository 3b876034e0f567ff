import { type ApprovalView, decideApproval, listApprovals } from '../approvals/index.ts';
import type { EngineDeps } from '../deps.ts';

type Request = Partial<Parameters<typeof decideApproval>[2]>;

/** The pending approvals of a run, or of all runs, newest first. */
export const pendingApprovals = async (
  deps: Pick<EngineDeps, 'redis' | 'blobs'>,
  runId?: string,
): Promise<ApprovalView[]> => (await listApprovals(deps, { run_id: runId }, { limit: 50 })).items;

/** Decides what was shown; approves it, unless the request says something else. */
export const decideOn = (deps: EngineDeps, view: ApprovalView | undefined, request: Request = {}) =>
  decideApproval(deps, view?.approval.id ?? '', {
    ...{ decision: 'approve', action_digest: view?.digest ?? '', by: 'ann' },
    ...request,
  });

/** Approves the newest pending approval of a run. @returns it as it was shown */
export async function approveFirst(deps: EngineDeps, runId: string): Promise<ApprovalView> {
  const [view] = await pendingApprovals(deps, runId);
  if (!view) throw new Error('nothing is held');
  await decideOn(deps, view);
  return view;
}
