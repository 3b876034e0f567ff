import * as contract from '@holdpoint/contract';
import { termsOf } from '../deciders.ts';
import { denialOf } from '../judge-grants.ts';
import { type RuleState, type RunState, type StepState, snapshotIs, stepIs, type Transition } from '../model.ts';
import { remembersRejection } from '../remembered-rejection.ts';
import { unblocked } from '../turn-order.ts';
import { parkedChange } from './ask-question.ts';

/** A pending step runs, parks, or is refused. */
export type Gate =
  | { step: StepState; action: 'allow'; reason: string }
  | { step: StepState; action: 'deny'; verdict: contract.Verdict }
  | Held
  | Answered;

/** A call held by the policy and decided by a remembered rule. */
export interface Answered extends Omit<Held, 'action'> {
  action: 'answer';
  rule: RuleState;
  digest: string;
}

/** A call waiting for a decision. */
export interface Held {
  step: StepState;
  action: 'hold';
  verdict: contract.Verdict;
  approvalId: string;
  expiresAt: string;
  preview?: contract.Payload<contract.Shown>;
  uses?: string | undefined;
  reaches?: string[] | undefined;
  /** Who gave the call its arguments in earlier decisions. */
  edited_by?: string[] | undefined;
}

/**
 * Whether an attempt at the step may change the workspace or anything outside the workspace. When a call runs in parallel with others, its
 * command writes, not the call.
 */
export const mayWrite = (step: StepState): boolean => changes(step) && !asksOutside(step);

const changes = (step: StepState): boolean => step.effect !== 'read' && !runsBeside(step);

/** Whether the next attempt only asks the other side for the result of the call, which was made before. */
export const asksOutside = ({ deferred }: StepState): boolean => deferred?.outside !== undefined;

/** Runs as a background command, parallel to other calls of its turn. A call that a person was asked about runs alone. */
export const runsBeside = ({ call, approval }: StepState): boolean => call.beside === true && approval === undefined;

/**
 * The pending steps that may pass the gate now. The approval of a writing step shows, and binds to, the workspace state at the start of the
 * call.
 */
export const releasable = (
  steps: readonly StepState[],
  actionOf: (step: StepState) => contract.PolicyAction,
): StepState[] =>
  unblocked(steps, (step) => ({
    isSettled: contract.isSettled(step.status),
    writes: changes(step) || step.call.sequential === true,
    isDenied: step.status === 'pending' && actionOf(step) === 'deny',
  })).filter((step) => step.status === 'pending');

/** Passes steps through the gate, all in one append. */
export function gateSteps(run: RunState, gates: readonly Gate[]): Transition {
  const held = gates.filter((gate) => gate.action === 'hold').length;
  const waiting = parkedChange(run, held);
  const snapshot = run.snapshot ?? '';
  return {
    if: [...waiting.if, snapshotIs(snapshot), ...gates.map(({ step }) => stepIs(step.id, 'pending'))],
    events: [...gates.flatMap((gate) => eventsOf(gate, snapshot)), ...waiting.events],
  };
}

/** The events for a call at the gate. @param snapshot the workspace a decision is about */
export function eventsOf(gate: Gate, snapshot: string): contract.NewEvent[] {
  const { step } = gate;
  switch (gate.action) {
    case 'allow':
      return [{ type: 'step.queued', step_id: step.id, data: { reason: gate.reason } }];
    case 'deny':
      return [
        {
          type: 'step.rejected',
          step_id: step.id,
          data: { attempt: null, error: denialOf(gate.verdict, 'gate') },
        },
      ];
    case 'hold':
      return [requested(gate, snapshot)];
    case 'answer':
      return answered(gate, snapshot);
    default:
      return gate satisfies never;
  }
}

/** Asks a person about a call. @param snapshot the workspace the decision is about */
const requested = ({ step, verdict, ...gate }: Held, snapshot: string): contract.NewEvent => ({
  type: 'approval.requested',
  step_id: step.id,
  data: {
    approval_id: gate.approvalId,
    kind: step.call.gate === 'input' ? 'input' : 'action',
    snapshot,
    reason: verdict.reason,
    risk: step.call.risk,
    preview: gate.preview,
    uses: gate.uses,
    reaches: gate.reaches,
    edited_by: gate.edited_by,
    ...termsOf(step, verdict),
    expires_at: gate.expiresAt,
  },
});

/** As if the maker of the rule had decided, in the same append as the question. */
function answered({ action: _, rule, digest, ...gate }: Answered, snapshot: string): contract.NewEvent[] {
  const { step, approvalId } = gate;
  const { by, decision = 'approve', message } = rule.made;
  const isRejected = decision === 'reject';
  return [
    requested({ ...gate, action: 'hold' }, snapshot),
    {
      type: 'approval.decided',
      step_id: step.id,
      data: {
        approval_id: approvalId,
        ...{ decision, message, by },
        action_digest: digest,
        snapshot,
        rule_id: rule.id,
        // Its approval was asked in the same append.
        writes: (!isRejected && step.effect !== 'read') || undefined,
      },
    },
    isRejected
      ? { type: 'step.rejected', step_id: step.id, data: { attempt: null, error: remembersRejection(rule) } }
      : {
          type: 'step.queued',
          step_id: step.id,
          data: { reason: `approved by the rule ${rule.id}, which ${by} made` },
        },
  ];
}
