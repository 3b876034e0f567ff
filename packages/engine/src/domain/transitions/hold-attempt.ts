import type { RunState, StepState } from '../state.ts';
import { attemptIs, leaseIs, snapshotIs, stepIs, type Transition } from '../transition.ts';
import { type Held, mayWrite, requested } from './gate-steps.ts';
import { parkedChange } from './waiting.ts';

/**
 * The running attempt found that a person has to be asked, and did nothing. The call parks, with its approval in the same append, and the
 * tree is still at the run's snapshot.
 */
export function holdAttempt(run: RunState, step: StepState, held: Omit<Held, 'step' | 'action'>): Transition {
  const waiting = parkedChange(run, 1);
  const { id: step_id, attempt } = step;
  const snapshot = run.snapshot ?? '';
  return {
    if: [
      ...waiting.if,
      stepIs(step_id, 'running'),
      attemptIs(step_id, attempt),
      leaseIs(run.lease),
      snapshotIs(snapshot),
    ],
    events: [
      {
        type: 'step.held',
        step_id,
        data: { attempt, reason: held.verdict.reason, writes: mayWrite(step) || undefined },
      },
      requested({ step, action: 'hold', ...held }, snapshot),
      ...waiting.events,
    ],
  };
}
