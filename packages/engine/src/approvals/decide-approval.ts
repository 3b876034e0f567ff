import { isDeepStrictEqual } from 'node:util';
import { type DecisionKind, type Json, resolutionSchema } from '@holdpoint/contract';
import { notifyParent } from '../agents/index.ts';
import type { EngineDeps } from '../deps.ts';
import {
  type Decision,
  decide,
  decidePublish,
  EngineError,
  expire,
  expirePublish,
  type Transition,
} from '../domain/index.ts';
import { append, fromPayload, readSpec, retryWhileContended, toPayload, untrackApproval } from '../log/index.ts';
import { describeEdit } from './describe-edit.ts';
import { judgeDescribed } from './judge-step.ts';
import { type ApprovalView, type PublishApproval, type StepApproval, viewApproval } from './view-approval.ts';

interface DecisionRequest {
  decision: DecisionKind;
  action_digest: string;
  /** With `edit`: the arguments of a call, or `{resolutions: […]}` of a publish. */
  args?: Record<string, Json>;
  message?: string;
  by: string;
}

/**
 * Records a decision; the first one wins. The same decision again gets the answer of the first, another one is a conflict.
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
    const { run, approval } = view;
    if (approval.status !== 'pending') {
      if (await isSameDecision(deps, view, request)) return true;
      throw new EngineError('already_decided', `the approval ${approval.id} is ${approval.status}`);
    }
    const { expires_at } = approval.request;
    const isExpired = Date.parse(expires_at) <= deps.now();
    const transition = isExpired ? expireApproval(view) : await checkDecision(deps, view, request);
    if (!(await append(deps, run.id, transition)).ok) return false;
    await wakeAfterDecision(deps, view);
    if (isExpired) throw new EngineError('already_decided', `the approval ${approval.id} expired at ${expires_at}`);
    return true;
  });
  return viewApproval(deps, approvalId);
}

const expireApproval = (view: ApprovalView): Transition =>
  view.subject === 'step' ? expire(view.run, view.step, view.approval) : expirePublish(view.run, view.approval);

/** The decision is in the log: wake-ups only save time, the sweeper sends them too. */
async function wakeAfterDecision(deps: EngineDeps, view: ApprovalView): Promise<void> {
  const { run, approval } = view;
  try {
    await untrackApproval(deps.redis, approval.id);
    await (view.subject === 'step' ? deps.queues.wakeStep(run, view.step.id) : deps.queues.wakeWorkspace(run.id));
    await notifyParent(deps, run);
  } catch (error) {
    const fields = { run_id: run.id, approval_id: approval.id, err: error };
    deps.logger.warn(fields, 'the wake-up was not sent; the sweeper sends it');
  }
}

async function isSameDecision(deps: EngineDeps, view: ApprovalView, request: DecisionRequest): Promise<boolean> {
  const { decision } = view.approval;
  const edited = decision?.args && (await fromPayload(deps.blobs, decision.args));
  return (
    decision?.decision === request.decision &&
    decision.action_digest === request.action_digest &&
    decision.message === request.message &&
    isDeepStrictEqual(edited, await editedArgs(deps, view, request))
  );
}

/** The arguments as a decision records them: those of a call with defaults filled in. */
async function editedArgs(deps: EngineDeps, view: ApprovalView, { args }: DecisionRequest): Promise<Json | undefined> {
  if (args === undefined) return undefined;
  if (view.subject === 'publication') return args.resolutions;
  const described = await describeEdit(deps, view, args);
  return described.ok ? described.args : args;
}

/** Finds everything that can be wrong with a decision before anything is written. */
async function checkDecision(deps: EngineDeps, view: ApprovalView, request: DecisionRequest): Promise<Transition> {
  const { run, approval, digest } = view;
  if (view.subject === 'step' && run.status !== 'running' && run.status !== 'waiting' && run.status !== 'paused') {
    throw new EngineError('run_not_active', `the run ${run.id} is ${run.status}`);
  }
  if (request.action_digest !== digest) {
    throw new EngineError('action_changed', `the digest of this action is ${digest} now`);
  }
  const { allowed_decisions: allowed } = approval.request;
  if (!allowed.includes(request.decision)) {
    throw new EngineError('decision_not_allowed', `this approval takes ${allowed.join(', ')}`);
  }
  return view.subject === 'step' ? decideStep(deps, view, request) : decidePublication(deps, view, request);
}

async function decideStep(deps: EngineDeps, view: StepApproval, request: DecisionRequest): Promise<Transition> {
  const { decision: kind, by, message, args } = request;
  if (kind === 'respond' && (message ?? '').trim() === '') {
    throw new EngineError('invalid_decision', 'respond needs a message: the answer');
  }
  if ((kind === 'edit') !== (args !== undefined)) {
    throw new EngineError('invalid_decision', 'args belong to the decision edit, and edit needs them');
  }
  const edited = args && (await checkEdited(deps, view, args));
  return decide(view.run, view.step, view.approval, { kind, digest: view.digest, by, message, edited });
}

async function checkEdited(deps: EngineDeps, view: StepApproval, args: Json): Promise<Decision['edited']> {
  const { run, step } = view;
  const described = await describeEdit(deps, view, args);
  if (!described.ok) throw new EngineError('invalid_decision', described.error.message);
  const { effect } = described;
  if (step.effect === 'read' && effect !== 'read') {
    const message = 'a call that only reads cannot become one that writes: other calls beside it have begun';
    throw new EngineError('invalid_decision', message);
  }
  const { tool } = step.call;
  const { verdict } = judgeDescribed(deps, await readSpec(deps, run), { tool, args, described });
  if (verdict.action === 'deny') {
    throw new EngineError('invalid_decision', `the policy denies the edited call: ${verdict.reason}`);
  }
  return { args: await toPayload(deps.blobs, described.args), effect };
}

async function decidePublication(
  deps: EngineDeps,
  { run, approval, digest }: PublishApproval,
  { decision: kind, by, message, args }: DecisionRequest,
): Promise<Transition> {
  const isEdit = kind === 'edit';
  const chosen = resolutionSchema.array().safeParse(args?.resolutions).data;
  if (isEdit !== (args !== undefined) || (isEdit && chosen === undefined)) {
    throw new EngineError('invalid_decision', 'args belong to the decision edit, which needs {"resolutions": […]}');
  }
  const resolutions = chosen && (await toPayload(deps.blobs, chosen));
  return decidePublish(run, approval, { kind, digest, by, message, resolutions });
}
