import type { NewEvent } from '../events.ts';
import type { Payload } from '../payload.ts';
import type { PolicyAction } from '../policy.ts';
import type { RunState, StepState } from '../state.ts';
import { snapshotIs, stepIs, type Transition } from '../transition.ts';
import { type DecisionKind, isSettled } from '../vocabulary.ts';
import { parkedChange } from './waiting.ts';

/** What becomes of a pending step: it runs, it parks, or it is refused. */
export type Gate =
  | { step: StepState; action: 'allow'; reason: string }
  | { step: StepState; action: 'deny'; reason: string }
  | { step: StepState; action: 'hold'; reason: string; approvalId: string; expiresAt: string; preview?: Payload };

/** Steps that only read are free; the others of a turn go one after the other, in the order the planner gave. */
export const isOrdered = (step: StepState): boolean => step.effect !== 'read';

/**
 * The pending steps that may pass the gate now. An ordered step waits until every earlier ordered one is settled, so that an approval
 * always shows, and binds to, the workspace state the call will really meet.
 */
export function releasable(steps: readonly StepState[], actionOf: (step: StepState) => PolicyAction): StepState[] {
  let blocked = false;
  return steps.filter((step) => {
    if (isSettled(step.status)) return false;
    if (!isOrdered(step)) return step.status === 'pending';
    if (blocked) return false;
    if (step.status !== 'pending') {
      blocked = true;
      return false;
    }
    blocked = actionOf(step) !== 'deny';
    return true;
  });
}

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
          allowed_decisions: decisionsFor(step),
          expires_at: gate.expiresAt,
        },
      };
    default:
      return gate satisfies never;
  }
}
