import { isDeepStrictEqual } from 'node:util';
import { type DecisionToConfirm, type Json, type RememberedRule, resolutionSchema } from '@holdpoint/contract';
import { notifyParent } from '../agents/index.ts';
import type { EngineDeps } from '../deps.ts';
import * as domain from '../domain/index.ts';
import { append, fromPayload, retryWhileContended, toPayload, untrackApproval } from '../log/index.ts';
import { assertOpened, type Checked, type Confirm, confirmDecision, type DecisionRequest } from './confirm-decision.ts';
import { answerByRules, decideStep, describeEdit } from './decide-step.ts';
import { listApprovals } from './list-approvals.ts';
import { listRule, madeBy, unlistRule } from './remembered-rules.ts';
import { type ApprovalView, type PublishApproval, viewApproval } from './view-approval.ts';

/**
 * Records a decision; the first decision wins. The same decision again gets the first answer, a different decision is a conflict. When
 * several callers have to approve, the last caller decides.
 * @throws EngineError `approval_not_found`, `already_decided`, `action_changed`, `decision_not_allowed`, `invalid_decision`,
 * `not_a_decider`, `not_opened`, `passkey_refused`, `passkey_required`, `run_not_active`
 */
export async function decideApproval(
  deps: EngineDeps,
  approvalId: string,
  request: DecisionRequest,
): Promise<ApprovalView> {
  // No scope of a key lets an agent decide.
  if (request.kind === 'agent') {
    throw new domain.EngineError('not_a_decider', `${request.by} is an agent, and agents decide nothing`);
  }
  await retryWhileContended(approvalId, async () => {
    const view = await viewApproval(deps, approvalId);
    const { run, approval } = view;
    if (approval.status !== 'pending') {
      if (await isSameDecision(deps, view, request)) return true;
      throw whyClosed(approval);
    }
    if (Date.parse(approval.request.expires_at) <= deps.now()) return expireNow(deps, view);
    const transition = await checkDecision(deps, view, request);
    if (transition === 'already voted') return true;
    await listRule(deps, run, transition);
    const decides = transition.events.some(({ type }) => type === 'approval.decided');
    // The wake-up follows the append on the same connection. A job that wakes without a decision sleeps again.
    const [appended] = await Promise.all([append(deps, run.id, transition), decides && wake(deps, view)]);
    if (!appended.ok) await unlistRule(deps, run, transition);
    if (!appended.ok && appended.field === 'deadline') return expireNow(deps, view);
    if (!appended.ok) return false;
    // The server did not know the script: the append came after the wake-up.
    if (decides && appended.late) await wake(deps, view);
    if (decides) await reportDecided(deps, view);
    for (const rule of madeBy(transition)) await answerOpen(deps, run, rule);
    return true;
  });
  return viewApproval(deps, approvalId);
}

/**
 * What a passkey has to sign for a decision. The decision itself is checked as if it were sent, and nothing is recorded.
 * @throws EngineError as `decideApproval`; `invalid_decision` where a decision takes no passkey
 */
export async function decisionToConfirm(
  deps: EngineDeps,
  approvalId: string,
  request: Omit<DecisionRequest, 'confirm'>,
): Promise<DecisionToConfirm> {
  const view = await viewApproval(deps, approvalId);
  const { approval } = view;
  if (approval.status !== 'pending') throw whyClosed(approval);
  if (Date.parse(approval.request.expires_at) <= deps.now()) {
    throw new domain.EngineError(
      'already_decided',
      `the approval ${approvalId} expired at ${approval.request.expires_at}`,
    );
  }
  const asked = new ToConfirm();
  try {
    await checkDecision(deps, view, { ...request, confirm: asked.answer });
  } catch (error) {
    if (asked.decision === undefined) throw error;
    return asked.decision;
  }
  const message = `${request.decision} on ${approvalId} takes no passkey: send the decision as it is`;
  throw new domain.EngineError('invalid_decision', message);
}

/** Stops the check of a decision where it asks for a passkey. */
class ToConfirm extends Error {
  decision: DecisionToConfirm | undefined;
  readonly answer: Confirm = async (decision) => {
    this.decision = decision;
    throw this;
  };
}

function whyClosed({ id, status, superseded }: domain.ApprovalState): domain.EngineError {
  if (status !== 'canceled' || superseded === undefined) {
    return new domain.EngineError('already_decided', `the approval ${id} is ${status}`);
  }
  const next = `Read GET /v1/approvals/${superseded} and decide on it. Nothing was decided.`;
  return new domain.EngineError('action_changed', `${superseded}, which shows the result of the call, replaced ${id}`, {
    next,
  });
}

/** Answers the waiting calls of the run after a new rule, at once. A call that the rule does not cover waits for its own decision. */
async function answerOpen(deps: EngineDeps, run: domain.RunState, rule: RememberedRule): Promise<void> {
  try {
    const filter = { run_id: run.id, tool: rule.tool, tenant: run.tenant };
    const { items } = await listApprovals(deps, filter, { limit: mostAnswered });
    for (const { approval } of items) {
      await retryWhileContended(approval.id, async () => {
        const view = await viewApproval(deps, approval.id);
        const transition = view.subject === 'step' ? await answerByRules(deps, view) : undefined;
        if (transition === undefined) return true;
        const { ok } = await append(deps, run.id, transition);
        if (ok) await Promise.all([wake(deps, view), reportDecided(deps, view)]);
        return ok || Date.parse(view.approval.request.expires_at) <= deps.now();
      });
    }
  } catch (error) {
    deps.logger.warn(
      { run_id: run.id, rule_id: rule.rule_id, err: error },
      'open calls were not answered by a new rule',
    );
  }
}

const mostAnswered = 100;

/** The decision came too late. When the policy allows expired calls to run, workers judge the call again. */
async function expireNow(deps: EngineDeps, view: ApprovalView): Promise<boolean> {
  const { id, request } = view.approval;
  if (request.on_expiry !== 'allow' && !(await append(deps, view.run.id, expireApproval(view))).ok) return false;
  await wake(deps, view);
  await reportDecided(deps, view);
  throw new domain.EngineError('already_decided', `the approval ${id} expired at ${request.expires_at}`);
}

const expireApproval = (view: ApprovalView): domain.Transition =>
  view.subject === 'step'
    ? domain.expire(view.run, view.step, view.approval)
    : domain.expirePublish(view.run, view.approval);

/** Wake-ups only save time: the sweeper sends them too. */
const wake = (deps: EngineDeps, view: ApprovalView): Promise<void> =>
  unlessItFails(deps, view, () =>
    view.subject === 'step' ? deps.queues.wakeDecided(view.run, view.step.id) : deps.queues.wakeWorkspace(view.run.id),
  );

/** Called when the decision is in the log. */
const reportDecided = (deps: EngineDeps, view: ApprovalView): Promise<void> =>
  unlessItFails(deps, view, async () => {
    await untrackApproval(deps.redis, view.approval.id);
    await notifyParent(deps, view.run);
  });

async function unlessItFails(
  deps: EngineDeps,
  { run, approval }: ApprovalView,
  act: () => Promise<void>,
): Promise<void> {
  try {
    await act();
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
    (decision.made_rule === undefined) === (request.remember === undefined) &&
    isDeepStrictEqual(edited, await editedArgs(deps, view, request))
  );
}

/** The arguments as a decision records them: the arguments of a call get their defaults. */
async function editedArgs(deps: EngineDeps, view: ApprovalView, { args }: DecisionRequest): Promise<Json | undefined> {
  if (args === undefined) return undefined;
  if (view.subject === 'publication') return args.resolutions;
  const described = await describeEdit(deps, view, args);
  return described.ok ? described.args : args;
}

/** Checks the whole decision before anything is written. */
async function checkDecision(deps: EngineDeps, view: ApprovalView, request: DecisionRequest): Promise<Checked> {
  const { run, approval, digest } = view;
  if (view.subject === 'step' && run.status !== 'running' && run.status !== 'waiting' && run.status !== 'paused') {
    throw new domain.EngineError('run_not_active', `the run ${run.id} is ${run.status}`);
  }
  if (request.action_digest !== digest) {
    throw new domain.EngineError(
      'action_changed',
      `the action of the approval ${approval.id} has changed: its digest is ${digest} now`,
    );
  }
  const { allowed_decisions: allowed } = approval.request;
  if (!allowed.includes(request.decision)) {
    throw new domain.EngineError(
      'decision_not_allowed',
      `the approval ${approval.id} does not allow ${request.decision}: its allowed_decisions are ${allowed.join(', ')}`,
    );
  }
  if (
    request.remember !== undefined &&
    (view.subject !== 'step' || !['approve', 'reject'].includes(request.decision))
  ) {
    throw new domain.EngineError(
      'invalid_decision',
      'remember belongs to the decisions approve and reject about a call, and this is another decision or a publish',
    );
  }
  if (view.subject === 'publication') return decidePublication(deps, view, request);
  await assertOpened(deps, view, request);
  return decideStep(deps, view, request);
}

async function decidePublication(
  deps: EngineDeps,
  view: PublishApproval,
  request: DecisionRequest,
): Promise<domain.Transition> {
  const { run, approval, digest } = view;
  const { decision: kind, by, message, args } = request;
  const isEdit = kind === 'edit';
  const chosen = resolutionSchema.array().safeParse(args?.resolutions).data;
  if (isEdit !== (args !== undefined) || (isEdit && chosen === undefined)) {
    throw new domain.EngineError(
      'invalid_decision',
      'args belong to the decision edit, and the decision edit about a publish needs args of the form {"resolutions": […]}',
    );
  }
  const resolutions = chosen && (await toPayload(deps.blobs, chosen));
  // Last of all checks: a passkey signs a challenge once.
  const assertion = await confirmDecision(view, request, { kind, edited: resolutions && { args: resolutions } });
  return domain.decidePublish(run, approval, { kind, digest, by, message, resolutions, assertion });
}
