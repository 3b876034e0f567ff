import type { EngineDeps } from '../deps.ts';
import type { ApprovalState, RunState, Transition } from '../domain/index.ts';
import type { JobEnd } from '../jobs/index.ts';
import { append, untrackApproval } from '../log/index.ts';
import { pendingApproval } from './request-approval.ts';

/**
 * Ends the job of a parked step or publication: the job sleeps until the deadline and holds no worker. After the deadline the approval
 * expires.
 * @returns `again` when the approval is not pending any more
 */
export async function awaitDecision(
  deps: EngineDeps,
  run: RunState,
  approvalId: string | undefined,
  expire: (approval: ApprovalState) => Transition | Promise<Transition>,
): Promise<JobEnd | 'again'> {
  const approval = await pendingApproval(deps, run, approvalId);
  if (approval === undefined) return 'again';
  const { expiresAt } = approval;
  if (expiresAt > deps.now()) return { kind: 'sleep', until: expiresAt };
  const appended = await append(deps, run.id, await expire(approval));
  if (appended.ok) await untrackApproval(deps.redis, approval.id);
  return 'again';
}
