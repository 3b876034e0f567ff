import { isDeepStrictEqual } from 'node:util';
import type { DecisionKind } from '@holdpoint/contract';
import { notifyParent } from '../agents/notify-parent.ts';
import { fromPayload, toPayload } from '../blobs/blob-store.ts';
import type { EngineDeps } from '../deps.ts';
import { judgeCall } from '../domain/judge-call.ts';
import { type Decision, decide, expire } from '../domain/transitions/decide.ts';
import { EngineError } from '../errors.ts';
import { append } from '../log/append.ts';
import { untrackApproval } from '../log/indexes.ts';
import { readSpec } from '../log/read-spec.ts';
import { retryWhileContended } from '../log/retry-while-contended.ts';
import { decidePublication } from './decide-publication.ts';
import { describeEdit } from './describe-edit.ts';
import { type ApprovalView, type StepApproval, viewApproval } from './view-approval.ts';

export interface DecisionRequest {
  decision: DecisionKind;
  action_digest: string;
  args?: Record<string, unknown>;
  message?: string;
  by: string;
}

/**
 * Records a decision; the first one wins. The same decision again is answered as the first was, another one is a conflict.
 * @throws EngineError `approval_not_found`, `already_decided`, `action_changed`, `decision_not_allowed`, `invalid_decision`,
 * `run_not_active`
 */
export async function decideApproval(
  deps: EngineDeps,
  approvalId: string,
  request: DecisionRequest,
): Promise<ApprovalView> {
  await retryWhileContended(approvalId, async () => {
    const view = await viewApproval(deps, approvalId);
    if (view.subject === 'publication') return decidePublication(deps, view, request);
    if (view.approval.status !== 'pending') return settledAlready(deps, view, request);
    if (Date.parse(view.approval.request.expires_at) <= deps.now()) return expireNow(deps, view);
    const decision = await check(deps, view, request);
    const { run, step, approval } = view;
    const appended = await append(deps, run.id, decide(run, step, approval, decision));
    if (!appended.ok) return false;
    await afterwards(deps, view);
    return true;
  });
  return viewApproval(deps, approvalId);
}

/** The decision is in the log: the rest is wake-ups, which the sweeper sends too. */
async function afterwards(deps: EngineDeps, { run, step, approval }: StepApproval): Promise<void> {
  try {
    await untrackApproval(deps.redis, approval.id);
    await deps.queues.wakeStep(run, step.id);
    await notifyParent(deps, run);
  } catch (error) {
    deps.logger.warn({ run_id: run.id, step_id: step.id, err: error }, 'the wake-up was not sent; the sweeper will');
  }
}

/** The same decision again gets the answer of the first; anything else is too late. */
async function settledAlready(deps: EngineDeps, view: StepApproval, request: DecisionRequest): Promise<boolean> {
  const { approval } = view;
  const { decision } = approval;
  const same =
    decision?.decision === request.decision &&
    decision.action_digest === request.action_digest &&
    decision.message === request.message &&
    isDeepStrictEqual(await editedArgs(deps, view), await askedArgs(deps, view, request));
  if (same) return true;
  throw new EngineError('already_decided', `the approval ${approval.id} is ${approval.status}`);
}

async function editedArgs(deps: EngineDeps, { approval }: StepApproval): Promise<unknown> {
  return approval.decision?.args === undefined ? undefined : fromPayload(deps.blobs, approval.decision.args);
}

/** The arguments as a decision would record them: with defaults filled in. */
async function askedArgs(deps: EngineDeps, view: StepApproval, { args }: DecisionRequest): Promise<unknown> {
  if (args === undefined) return undefined;
  const described = await describeEdit(deps, view, args);
  return described.ok ? described.args : args;
}

async function expireNow(deps: EngineDeps, view: StepApproval): Promise<boolean> {
  const { run, step, approval } = view;
  const appended = await append(deps, run.id, expire(run, step, approval));
  if (!appended.ok) return false;
  await afterwards(deps, view);
  throw new EngineError('already_decided', `the approval ${approval.id} expired at ${approval.request.expires_at}`);
}

/** Everything that can be wrong with a decision is found here, before anything is written. */
async function check(deps: EngineDeps, view: StepApproval, request: DecisionRequest): Promise<Decision> {
  const { run, approval, digest } = view;
  if (run.status !== 'running' && run.status !== 'waiting' && run.status !== 'paused') {
    throw new EngineError('run_not_active', `the run ${run.id} is ${run.status}`);
  }
  if (request.action_digest !== digest) {
    throw new EngineError('action_changed', `the digest of this action is ${digest} now`);
  }
  const allowed = approval.request.allowed_decisions;
  if (!allowed.includes(request.decision)) {
    throw new EngineError('decision_not_allowed', `this approval takes ${allowed.join(', ')}`);
  }
  if (request.decision === 'respond' && (request.message ?? '').trim() === '') {
    throw new EngineError('invalid_decision', 'respond needs a message: the answer');
  }
  if ((request.decision === 'edit') !== (request.args !== undefined)) {
    throw new EngineError('invalid_decision', 'args belong to the decision edit, and edit needs them');
  }
  return {
    kind: request.decision,
    digest,
    by: request.by,
    ...(request.message === undefined ? {} : { message: request.message }),
    ...(request.args === undefined ? {} : { edited: await checkEdited(deps, view, request.args) }),
  };
}

async function checkEdited(deps: EngineDeps, view: StepApproval, args: unknown): Promise<Decision['edited']> {
  const described = await describeEdit(deps, view, args);
  if (!described.ok) throw new EngineError('invalid_decision', described.error.message);
  const { effect, risk } = described;
  if (view.step.effect === 'read' && effect !== 'read') {
    throw new EngineError(
      'invalid_decision',
      'a call that only reads cannot become one that writes: others beside it have begun',
    );
  }
  const verdict = judgeCall(await readSpec(deps, view.run), deps.operatorPolicy, {
    tool: view.step.call.tool,
    effect,
    risk,
  });
  if (verdict.action === 'deny') {
    throw new EngineError('invalid_decision', `the policy denies the edited call: ${verdict.reason}`);
  }
  return { args: await toPayload(deps.blobs, described.args), effect };
}
