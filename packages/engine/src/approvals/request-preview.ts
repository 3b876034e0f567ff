import type { CallerKind } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import { EngineError, requestPreview, whyNot } from '../domain/index.ts';
import { append, retryWhileContended } from '../log/index.ts';
import { readPanel } from './decide-step.ts';
import { isResult } from './result-preview.ts';
import { type ApprovalView, type StepApproval, viewApproval } from './view-approval.ts';

/**
 * Asks for the result of a held call before the decision. A worker runs the call on a throw-away fork, and an approval that carries the
 * result replaces this approval. Needs the right to decide: code of the run begins before anybody consented. No-op when repeated.
 * @returns the approval that stands for the call now
 * @throws EngineError `approval_not_found`, `already_decided`, `no_preview`, `not_a_decider`, `run_not_active`
 */
export async function requestResult(
  deps: EngineDeps,
  approvalId: string,
  caller: { by: string; kind: CallerKind },
): Promise<ApprovalView> {
  await retryWhileContended(approvalId, async () => {
    const view = await currentApproval(deps, approvalId);
    const { run, approval } = view;
    const step = await assertPreviewable(deps, view, caller);
    if (isResult(approval.request.uses)) return true;
    if (approval.previewing === undefined) {
      const appended = await append(deps, run.id, requestPreview(run, step, approval, caller.by));
      if (!appended.ok && appended.field === 'deadline') throw expired(view);
      if (!appended.ok) return false;
    }
    await wake(deps, view, step.id);
    return true;
  });
  return currentApproval(deps, approvalId);
}

/** The approval, or the one with the result by which it was replaced. */
export async function currentApproval(deps: Pick<EngineDeps, 'redis' | 'blobs'>, id: string): Promise<ApprovalView> {
  const view = await viewApproval(deps, id);
  const { status, superseded } = view.approval;
  return status === 'canceled' && superseded !== undefined ? currentApproval(deps, superseded) : view;
}

async function assertPreviewable(
  deps: EngineDeps,
  view: ApprovalView,
  { by, kind }: { by: string; kind: CallerKind },
): Promise<StepApproval['step']> {
  const { approval, run } = view;
  if (kind === 'agent') throw new EngineError('not_a_decider', `${by} is an agent, and agents decide nothing`);
  if (approval.status !== 'pending') {
    throw new EngineError('already_decided', `the approval ${approval.id} is ${approval.status}`);
  }
  if (Date.parse(approval.request.expires_at) <= deps.now()) throw expired(view);
  const reason = whyNoPreview(view);
  if (reason !== undefined || view.subject !== 'step') throw new EngineError('no_preview', reason ?? 'a publish');
  const notDecider = whyNot(await readPanel(deps, view, [by]), { name: by, kind });
  if (notDecider !== undefined) throw new EngineError('not_a_decider', notDecider);
  if (run.status !== 'running' && run.status !== 'waiting') {
    throw new EngineError('run_not_active', `the run ${run.id} is ${run.status}, so no worker runs its calls`);
  }
  return view.step;
}

function whyNoPreview(view: ApprovalView): string | undefined {
  const { id, request } = view.approval;
  if (view.subject !== 'step') return `the approval ${id} is about a publish: it shows its plan already`;
  if (request.kind !== 'action')
    return `the approval ${id} is about a question or an unknown outcome, and no call runs for it`;
  if (view.step.effect === 'external')
    return `the call of the approval ${id} has effects outside the workspace, which no fork contains`;
  return view.step.effect === 'read'
    ? `the call of the approval ${id} only reads, so it has no result to apply`
    : undefined;
}

const expired = ({ approval: { id, request } }: ApprovalView): EngineError =>
  new EngineError('already_decided', `the approval ${id} expired at ${request.expires_at}`);

/** A wake-up only saves time: the sweep finds the request. */
async function wake(deps: EngineDeps, { run, approval }: ApprovalView, stepId: string): Promise<void> {
  try {
    await deps.queues.wakeDecided(run, stepId);
  } catch (error) {
    const fields = { run_id: run.id, approval_id: approval.id, err: error };
    deps.logger.warn(fields, 'the wake-up was not sent; the sweeper sends it');
  }
}
