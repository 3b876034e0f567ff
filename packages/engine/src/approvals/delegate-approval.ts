import type { EngineDeps } from '../deps.ts';
import { type Decider, delegate, EngineError, whyNoDelegation } from '../domain/index.ts';
import { append, retryWhileContended } from '../log/index.ts';
import { readPanel } from './decide-step.ts';
import { type ApprovalView, viewApproval } from './view-approval.ts';

/**
 * Lets another caller decide on an approval instead of an entitled caller. Both together count once when several callers have to approve.
 * No-op when
 * repeated.
 * @throws EngineError `approval_not_found`, `already_decided`, `invalid_delegation`
 */
export async function delegateApproval(
  deps: EngineDeps,
  approvalId: string,
  { from, to }: { from: Decider; to: Decider },
): Promise<ApprovalView> {
  await retryWhileContended(approvalId, async () => {
    const view = await viewApproval(deps, approvalId);
    const { run, approval } = view;
    if (approval.status !== 'pending') {
      throw new EngineError('already_decided', `the approval ${approval.id} is ${approval.status}`);
    }
    if (view.subject !== 'step') {
      throw new EngineError(
        'invalid_delegation',
        'a publish needs no delegation: every caller with the scope approvals:decide may decide',
      );
    }
    if (approval.delegations?.some((one) => one.from === from.name && one.to === to.name)) return true;
    if ((approval.delegations?.length ?? 0) >= mostDelegations) {
      throw new EngineError(
        'invalid_delegation',
        `the approval ${approvalId} has ${mostDelegations} delegations already`,
      );
    }
    const reason = whyNoDelegation(await readPanel(deps, view, [from.name, to.name]), from, to);
    if (reason !== undefined) throw new EngineError('invalid_delegation', reason);
    const appended = await append(deps, run.id, delegate(run, view.step, approval, { from: from.name, to: to.name }));
    if (!appended.ok && appended.field === 'deadline') {
      throw new EngineError('already_decided', `the approval ${approval.id} expired at ${approval.request.expires_at}`);
    }
    return appended.ok;
  });
  return viewApproval(deps, approvalId);
}

const mostDelegations = 50;
