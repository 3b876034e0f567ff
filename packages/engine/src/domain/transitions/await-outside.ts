import type { EventOf } from '@holdpoint/contract';
import { attemptRuns, leaseIs, type RunState, type StepState, snapshotIs, type Transition } from '../model.ts';
import { snapshotted, type TakenSnapshot } from './snapshotted.ts';

/** What the other side of a call gets back, as it is recorded. */
export type OutsideState = NonNullable<EventOf<'step.deferred'>['data']['outside']>;

/** A wait for the other side of a call, as it is recorded. */
export interface NewWait {
  /** Milliseconds since the epoch. */
  until: number;
  outside: OutsideState;
  /** The tree after the attempt that made the call. The attempts after it only ask, and have none. */
  snapshot: TakenSnapshot | undefined;
}

/** The running attempt ends without a result, which the next attempt asks for. Other calls may change the tree until then. */
export const awaitOutside = (
  run: RunState,
  step: Pick<StepState, 'id' | 'attempt'>,
  { until, outside, snapshot }: NewWait,
): Transition => ({
  if: [
    ...attemptRuns(step.id, step.attempt),
    ...(snapshot === undefined ? [] : [leaseIs(run.lease), snapshotIs(snapshot.parent)]),
  ],
  events: [
    ...snapshotted(step, snapshot),
    {
      type: 'step.deferred',
      step_id: step.id,
      data: { attempt: step.attempt, until: new Date(until).toISOString(), outside },
    },
  ],
});
