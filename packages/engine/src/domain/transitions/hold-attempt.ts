import type { RunState, StepState } from '../state.ts';
import { attemptRuns, leaseIs, snapshotIs, type Transition } from '../transition.ts';
import { parkedChange } from './ask-question.ts';
import { type Answered, eventsOf, type Held, mayWrite } from './gate-steps.ts';

/**
 * The running attempt found that a person has to be asked, and did nothing. The call parks, with its approval in the same append, and the
 * tree is still at the run's snapshot. Where a remembered rule answers, the call is queued again in that append.
 */
export function holdAttempt(
  run: RunState,
  step: StepState,
  held: Omit<Held, 'step'> | Omit<Answered, 'step'>,
): Transition {
  const waiting = parkedChange(run, held.action === 'hold' ? 1 : 0);
  const { id: step_id, attempt } = step;
  const snapshot = run.snapshot ?? '';
  return {
    if: [...waiting.if, ...attemptRuns(step_id, attempt), leaseIs(run.lease), snapshotIs(snapshot)],
    events: [
      {
        type: 'step.held',
        step_id,
        data: { attempt, reason: held.verdict.reason, writes: mayWrite(step) || undefined },
      },
      ...eventsOf({ step, ...held }, snapshot),
      ...waiting.events,
    ],
  };
}
