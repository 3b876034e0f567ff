import type { ApprovalTerms, EventOf, OutsideQuestion, Payload, Shown } from '@holdpoint/contract';
import { attemptRuns, leaseIs, type RunState, type StepState, snapshotIs, type Transition } from '../model.ts';
import { snapshotted, type TakenSnapshot } from './snapshotted.ts';
import { parkedChange } from './waiting.ts';

/** A question of the other side of a call, as it is recorded. */
export interface NewQuestion {
  question: Payload<OutsideQuestion>;
  state: EventOf<'step.asked'>['data']['state'];
  /** What the call changed up to its question. */
  snapshot: TakenSnapshot | undefined;
}

/** Number of the next question of a call, from 1. */
export const nextRound = ({ asked }: Pick<StepState, 'asked'>): number => (asked?.round ?? 0) + 1;

/**
 * The running attempt ends with a question: the call parks until a person answers, and keeps what it changed so far. The answer queues the
 * call again.
 */
export function askQuestion(
  run: RunState,
  step: StepState,
  {
    question,
    state,
    snapshot,
    ...asked
  }: NewQuestion & {
    approvalId: string;
    expiresAt: string;
    reason: string;
    preview: Payload<Shown>;
    /** Whether the call had been let run by a decision on it. */
    decided: boolean;
    /** The part of the decision's digest for the question. */
    uses: string;
    terms: ApprovalTerms;
  },
): Transition {
  const waiting = parkedChange(run, 1);
  const { id: step_id, attempt } = step;
  const { approvalId: approval_id, expiresAt: expires_at, reason, preview, uses, terms, decided } = asked;
  return {
    if: [...waiting.if, ...attemptRuns(step_id, attempt), leaseIs(run.lease), snapshotIs(run.snapshot ?? '')],
    events: [
      ...snapshotted(step, snapshot),
      {
        type: 'step.asked',
        step_id,
        data: { attempt, round: nextRound(step), question, state, approval_id, decided },
      },
      {
        type: 'approval.requested',
        step_id,
        data: {
          ...{ approval_id, kind: 'input', reason, preview, uses, expires_at },
          snapshot: snapshot?.snapshot ?? run.snapshot ?? '',
          risk: step.call.risk,
          ...terms,
          allowed_decisions: ['respond', 'reject'],
        },
      },
      ...waiting.events,
    ],
  };
}
