import { type DecisionKind, isSettled, type NewEvent, type Payload, type PolicyAction } from '@holdpoint/contract';
import type { RunState, StepState } from '../state.ts';
import { snapshotIs, stepIs, type Transition } from '../transition.ts';
import { unblocked } from '../turn-order.ts';
import { parkedChange } from './waiting.ts';

/** What becomes of a pending step: it runs, it parks, or it is refused. */
export type Gate =
  | { step: StepState; action: 'allow'; reason: string }
  | { step: StepState; action: 'deny'; reason: string }
  | {
      step: StepState;
      action: 'hold';
      reason: string;
      approvalId: string;
      expiresAt: string;
      preview?: Payload;
      uses?: string;
    };

/** The step may change the workspace, or anything else. */
export const mayWrite = (step: StepState): boolean => step.effect !== 'read';

/**
 * The pending steps that may pass the gate now. An approval of one that writes always shows, and binds to, the workspace state that the
 * call will really meet.
 */
export const releasable = (steps: readonly StepState[], actionOf: (step: StepState) => PolicyAction): StepState[] =>
  unblocked(steps, (step) => ({
    isSettled: isSettled(step.status),
    writes: mayWrite(step) || step.call.sequential === true,
    isDenied: step.status === 'pending' && actionOf(step) === 'deny',
  })).filter((step) => step.status === 'pending');

/** Lets steps through the gate, all in one entry. */
export function gateSteps(run: RunState, gates: readonly Gate[]): Transition {
  const held = gates.filter((gate) => gate.action === 'hold').length;
  const waiting = parkedChange(run, held);
  const snapshot = run.snapshot ?? '';
  return {
    if: [...waiting.if, snapshotIs(snapshot), ...gates.map(({ step }) => stepIs(step.id, 'pending'))],
    events: [...gates.map((gate) => passed(gate, snapshot)), ...waiting.events],
  };
}

const decisionsFor = (step: StepState): DecisionKind[] =>
  step.call.gate === 'input' ? ['respond', 'reject'] : ['approve', 'edit', 'reject', 'respond'];

function passed(gate: Gate, snapshot: string): NewEvent {
  const { step } = gate;
  switch (gate.action) {
    case 'allow':
      return { type: 'step.queued', step_id: step.id, data: { reason: gate.reason } };
    case 'deny':
      return {
        type: 'step.rejected',
        step_id: step.id,
        data: {
          attempt: null,
          error: {
            code: 'EPERMISSION',
            message: `Not run: the policy denies this call (${gate.reason}).`,
            next: 'Do without this call, or find another way that the policy allows.',
          },
        },
      };
    case 'hold':
      return {
        type: 'approval.requested',
        step_id: step.id,
        data: {
          approval_id: gate.approvalId,
          kind: step.call.gate === 'input' ? 'input' : 'action',
          snapshot,
          reason: gate.reason,
          risk: step.call.risk,
          ...(gate.preview === undefined ? {} : { preview: gate.preview }),
          ...(gate.uses === undefined ? {} : { uses: gate.uses }),
          allowed_decisions: decisionsFor(step),
          expires_at: gate.expiresAt,
        },
      };
    default:
      return gate satisfies never;
  }
}
