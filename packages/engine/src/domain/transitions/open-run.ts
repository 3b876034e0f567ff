import type { EventOf, NewEvent, Problem } from '@holdpoint/contract';
import {
  type Condition,
  callsKeyField,
  fieldIs,
  isAbsent,
  noOpenTasks,
  openIs,
  type RunState,
  receivedIs,
  runField,
  runIs,
  type Transition,
  turnIs,
} from '../model.ts';

export type ReceivedCalls = EventOf<'calls.received'>['data'];

/** The last turn is settled, and no calls wait behind the turn: the open run needs no worker until new calls come. */
export const waitForCalls = (run: RunState): Transition => ({
  if: [runIs('running'), turnIs(run.turn), openIs(0), receivedIs(run.received), isAbsent(runField.closing)],
  events: [forCalls],
});

const forCalls: NewEvent = { type: 'run.waiting', data: { for: 'calls' } };

/** Records calls for a turn to be planned later. */
export const receiveCalls = (run: RunState, received: ReceivedCalls): Transition => ({
  if: [runIs(run.status), ...mayReceive(run, received)],
  events: [{ type: 'calls.received', data: received }],
});

const mayReceive = (run: RunState, { key }: ReceivedCalls): Condition[] => [
  isAbsent(runField.closing),
  receivedIs(run.received),
  ...(key === undefined ? [] : [isAbsent(callsKeyField(key))]),
];

/**
 * Records calls together with their effect on a run waiting for calls: a turn with the calls, or a pause.
 * @param next made for the run returned by `resumedByCalls`
 * @param isOver every call settled when planned
 */
export const receiveAndPlan = (
  run: RunState,
  received: ReceivedCalls,
  { next, isOver }: { next: Transition; isOver: boolean },
): Transition => ({
  if: [
    ...isWaiting(run),
    ...mayReceive(run, received),
    ...next.if.filter(({ field }) => field !== runField.status.name && field !== runField.received.name),
  ],
  events: [{ type: 'calls.received', data: received }, resumed(run), ...next.events, ...(isOver ? [forCalls] : [])],
});

/** A run after its wait for calls, with the calls received. */
export const resumedByCalls = (run: RunState, { number }: ReceivedCalls, now: number): RunState => ({
  ...run,
  status: 'running',
  // Its clock starts now.
  active_ms: run.active_ms - now,
  awaits_calls: undefined,
  received: number,
});

/** The caller has no more calls. Open tasks end before the run does. */
export function finishOpen(run: RunState, message: string): Transition {
  const end = { as: 'succeeded', message } as const;
  if (run.awaits_calls === undefined) {
    // The run has not started, or is about to wait.
    return {
      if: [runIs(run.status), isAbsent(runField.closing), turnIs(run.turn), openIs(0), receivedIs(run.received)],
      events: [{ type: 'run.closing', data: end }],
    };
  }
  if (run.open_tasks > 0) return { if: isWaiting(run), events: [resumed(run), { type: 'run.closing', data: end }] };
  return {
    if: [...isWaiting(run), noOpenTasks],
    events: [resumed(run), { type: 'run.succeeded', data: { message } }],
  };
}

/** No calls came for too long. */
export const endIdle = (run: RunState, reason: Problem): Transition => ({
  if: isWaiting(run),
  events: [resumed(run), { type: 'run.closing', data: { as: 'failed', message: reason.message, reason } }],
});

/** The run still waits for the same calls as when the caller read the run. */
const isWaiting = (run: RunState): Condition[] => [
  runIs('waiting'),
  fieldIs(runField.awaits_calls, run.awaits_calls),
  turnIs(run.turn),
  receivedIs(run.received),
];

const resumed = ({ turn }: RunState): NewEvent => ({
  type: 'run.resumed',
  data: { after: 'calls', status: 'running', turn },
});
