import type * as contract from '@holdpoint/contract';
import * as model from '../model.ts';
import { nextAfterRemembered } from '../remembered-rejection.ts';
import { parkedChange } from './ask-question.ts';
import { asksOutside } from './gate-steps.ts';

/** A checked decision of a person: the digest matches, edited arguments are valid and pass the policy. */
export interface Decision {
  kind: contract.DecisionKind;
  digest: string;
  by: string;
  message?: string | undefined;
  edited?: { args: contract.Payload; effect: contract.Effect } | undefined;
  /** With `reject`: the error of the call, where the rejection by a person is not all there is to say. */
  error?: contract.Problem | undefined;
  /** The result of a question, made from the words of a person. */
  answer?: { value: contract.Payload } | { error: contract.Problem } | undefined;
  /** The answers to the question of the other side of the call, which continues with them. */
  answers?: contract.Payload<contract.OutsideAnswers> | undefined;
  /** The proof of a passkey; where several callers approve, each vote has its own. */
  assertion?: contract.PasskeyAssertion | undefined;
  /** For an approval by several callers: all votes, the last vote included. */
  votes?: contract.Vote[] | undefined;
  /** Made with the decision, for later calls with the same parameters. */
  rule?: contract.RememberedRule | undefined;
  /** The deciding rule, made by `by` with another decision. */
  ruleId?: string | undefined;
  /** The deadline passed, and the policy lets the call run then. */
  expired?: true | undefined;
}

/** The first decision wins: the approval must be pending, and the workspace at the snapshot of the digest. */
export function decide(
  run: model.RunState,
  step: model.StepState,
  approval: model.ApprovalState,
  decision: Decision,
): model.Transition {
  const waiting = parkedChange(run, -1);
  return {
    if: [...waiting.if, ...stillAsked(run, step, approval)],
    before: decision.expired ? undefined : Date.parse(approval.request.expires_at),
    events: [
      ...(decision.votes === undefined ? [] : [voted(step, approval, decision.by, decision.votes)]),
      {
        type: 'approval.decided',
        step_id: step.id,
        data: {
          approval_id: approval.id,
          decision: decision.kind,
          action_digest: decision.digest,
          snapshot: run.snapshot ?? '',
          args: decision.edited?.args,
          asked: decision.edited && step.args,
          message: decision.message,
          by: decision.by,
          votes: decision.votes,
          made_rule: decision.rule?.rule_id,
          rule_id: decision.ruleId,
          assertion: decision.assertion,
          expired: decision.expired,
          writes: willWrite(step, decision) || undefined,
        },
      },
      consequence(step, approval, decision),
      ...planApproved(run, step, approval, decision),
      ...(decision.rule === undefined
        ? []
        : [{ type: 'rule.remembered' as const, data: { ...decision.rule, approval_id: approval.id } }]),
      ...waiting.events,
    ],
  };
}

/** Approving the plan ends plan mode. Nothing else does. */
function planApproved(
  run: model.RunState,
  step: model.StepState,
  { id }: model.ApprovalState,
  { kind, by }: Decision,
): contract.NewEvent[] {
  const isApproved = step.call.gate === 'plan' && (kind === 'approve' || kind === 'edit');
  if (!isApproved || run.plan_approved !== undefined) return [];
  return [{ type: 'run.plan_approved', step_id: step.id, data: { approval_id: id, by } }];
}

/** No other caller has decided, voted or delegated since the caller read the approval, and the action is the same. */
const stillAsked = (run: model.RunState, step: model.StepState, approval: model.ApprovalState): model.Condition[] => [
  model.approvalIs(approval.id, 'pending'),
  model.stepIs(step.id, step.status),
  model.snapshotIs(run.snapshot ?? ''),
  model.fieldIs(model.approvalField.votes(approval.id), approval.votes),
  model.fieldIs(model.approvalField.delegations(approval.id), approval.delegations),
];

/** A vote of several required votes, and not the last. */
export const vote = (
  run: model.RunState,
  step: model.StepState,
  approval: model.ApprovalState,
  { by, votes }: { by: string; votes: contract.Vote[] },
): model.Transition => ({
  if: stillAsked(run, step, approval),
  before: Date.parse(approval.request.expires_at),
  events: [voted(step, approval, by, votes)],
});

const voted = (
  step: model.StepState,
  { id }: model.ApprovalState,
  by: string,
  votes: contract.Vote[],
): contract.NewEvent => ({
  type: 'approval.voted',
  step_id: step.id,
  data: { approval_id: id, by, votes },
});

/** A caller with the right to decide lets another caller decide. */
export const delegate = (
  run: model.RunState,
  step: model.StepState,
  approval: model.ApprovalState,
  { from, to }: contract.Delegation,
): model.Transition => ({
  if: stillAsked(run, step, approval),
  before: Date.parse(approval.request.expires_at),
  events: [
    {
      type: 'approval.delegated',
      step_id: step.id,
      data: { approval_id: approval.id, from, to, delegations: [...(approval.delegations ?? []), { from, to }] },
    },
  ],
});

/**
 * An approved writing call becomes the writer now, so the call finds the workspace the person has seen. The answer to a call whose result comes later
 * changes nothing in the workspace.
 */
function willWrite(step: model.StepState, { kind, edited, answers }: Decision): boolean {
  if (asksOutside(step)) return false;
  return (kind === 'approve' || kind === 'edit' || answers !== undefined) && (edited?.effect ?? step.effect) !== 'read';
}

/** The deadline passed first: the step settles without having run. */
export function expire(run: model.RunState, step: model.StepState, approval: model.ApprovalState): model.Transition {
  const waiting = parkedChange(run, -1);
  const error: contract.Problem = {
    code: 'EEXPIRED',
    message: `Not run: no decision before ${approval.request.expires_at}.`,
    next: 'Continue without this call, or ask again.',
  };
  const isIndeterminate = approval.request.kind === 'indeterminate';
  const { attempt } = step;
  return {
    if: [...waiting.if, model.approvalIs(approval.id, 'pending'), model.stepIs(step.id, step.status)],
    events: [
      { type: 'approval.expired', step_id: step.id, data: { approval_id: approval.id } },
      isIndeterminate
        ? { type: 'step.failed', step_id: step.id, data: { attempt, error: unknownOutcome } }
        : isOutsideQuestion(step, approval)
          ? { type: 'step.failed', step_id: step.id, data: { attempt, error: unanswered(approval) } }
          : { type: 'step.expired', step_id: step.id, data: { attempt: null, error } },
      ...waiting.events,
    ],
  };
}

/** A question of the other side of a call, which has run up to there. */
export const isOutsideQuestion = (
  { asked }: Pick<model.StepState, 'asked'>,
  { request }: model.ApprovalState,
): boolean => asked !== undefined && request.kind === 'input';

const unanswered = ({ request }: model.ApprovalState): contract.Problem => ({
  code: 'EEXPIRED',
  message: `The server asked a question before the call continued, and no answer came before ${request.expires_at}. Nothing more was sent.`,
  next: 'Continue without this call, or make it again.',
});

const unknownOutcome: contract.Problem = {
  code: 'EUNKNOWN',
  message:
    'It is unknown whether this call took effect: its worker died, and no decision was made before the deadline.',
  next: 'Find out what happened before you try it again.',
};

const nextAfterRejection = 'Do not repeat the same call. Follow the message of the person, or find another way.';

const approvedBy = ({ by, expired }: Decision): string =>
  expired ? `approved by ${by}: no decision came in time` : `approved by ${by}`;

function consequence(step: model.StepState, approval: model.ApprovalState, decision: Decision): contract.NewEvent {
  const step_id = step.id;
  const says = decision.message === undefined ? '' : ` They say: ${decision.message}`;
  const isIndeterminate = approval.request.kind === 'indeterminate';
  const attempt = isIndeterminate ? step.attempt : null;
  switch (decision.kind) {
    case 'approve':
      return {
        type: 'step.queued',
        step_id,
        data: { reason: isIndeterminate ? `run again by decision of ${decision.by}` : approvedBy(decision) },
      };
    case 'edit':
      return {
        type: 'step.queued',
        step_id,
        data: {
          reason: `approved with edited arguments by ${decision.by}`,
          args: decision.edited?.args,
          effect: decision.edited?.effect,
          written: step.written ?? step.call.written ?? step.args,
        },
      };
    case 'reject':
      if (isIndeterminate) {
        const error = { code: 'EDIDNOTHAPPEN', message: `A person found that this call did not take effect.${says}` };
        return { type: 'step.failed', step_id, data: { attempt, error } };
      }
      if (isOutsideQuestion(step, approval)) {
        return { type: 'step.failed', step_id, data: { attempt: step.attempt, error: declined(says) } };
      }
      return {
        type: 'step.rejected',
        step_id,
        data: {
          attempt: null,
          error: decision.error ?? {
            code: 'EREJECTED',
            message: `Not run: a person rejected this call.${says}`,
            next: decision.rule === undefined ? nextAfterRejection : nextAfterRemembered,
          },
        },
      };
    case 'respond':
      if (decision.answers !== undefined) {
        return {
          type: 'step.queued',
          step_id,
          data: { reason: `answered by ${decision.by}`, answers: decision.answers },
        };
      }
      if (step.call.gate === 'input') {
        const { answer = { value: { json: { answer: decision.message ?? '' } } } } = decision;
        return { type: 'error' in answer ? 'step.failed' : 'step.succeeded', step_id, data: { attempt, ...answer } };
      }
      if (isIndeterminate) {
        const value = { json: { confirmed_by: decision.by, message: decision.message ?? '' } };
        return { type: 'step.succeeded', step_id, data: { attempt, value, instead: 'confirmed' } };
      }
      return {
        type: 'step.rejected',
        step_id,
        data: {
          attempt: null,
          error: {
            code: 'ERESPONDED',
            message: `Not run: a person answered instead.${says}`,
            next: 'Continue with this answer.',
          },
        },
      };
    default:
      return decision.kind satisfies never;
  }
}

const declined = (says: string): contract.Problem => ({
  code: 'EREJECTED',
  message: `The server asked a question before the call continued, and a person declined to answer. Nothing more was sent.${says}`,
  next: nextAfterRejection,
});
