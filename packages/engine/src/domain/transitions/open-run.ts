import type { EventOf, NewEvent, Problem } from '@holdpoint/contract';
import * as model from '../model.ts';

export type ReceivedCalls = EventOf<'calls.received'>['data'];

/** The last turn is settled, and no calls wait behind the turn: the open run needs no worker until new calls come. */
export const waitForCalls = (run: model.RunState): model.Transition => ({
  if: [
    model.runIs('running'),
    model.turnIs(run.turn),
    model.openIs(0),
    model.receivedIs(run.received),
    model.isAbsent(model.runField.closing),
  ],
  events: [forCalls],
});

const forCalls: NewEvent = { type: 'run.waiting', data: { for: 'calls' } };

/** Records calls for a turn to be planned later. */
export const receiveCalls = (run: model.RunState, received: ReceivedCalls): model.Transition => ({
  if: [model.runIs(run.status), ...mayReceive(run, received)],
  events: [{ type: 'calls.received', data: received }],
});

const mayReceive = (run: model.RunState, { key }: ReceivedCalls): model.Condition[] => [
  model.isAbsent(model.runField.closing),
  model.receivedIs(run.received),
  ...(key === undefined ? [] : [model.isAbsent(model.callsKeyField(key))]),
];

/**
 * Records calls together with their effect on a run waiting for calls: a turn with the calls, or a pause.
 * @param next made for the run returned by `resumedByCalls`
 * @param isOver every call settled when planned
 */
export const receiveAndPlan = (
  run: model.RunState,
  received: ReceivedCalls,
  { next, isOver }: { next: model.Transition; isOver: boolean },
): model.Transition => ({
  if: [
    ...isWaiting(run),
    ...mayReceive(run, received),
    ...next.if.filter(({ field }) => field !== model.runField.status.name && field !== model.runField.received.name),
  ],
  events: [{ type: 'calls.received', data: received }, resumed(run), ...next.events, ...(isOver ? [forCalls] : [])],
});

/** A run after its wait for calls, with the calls received. */
export const resumedByCalls = (run: model.RunState, { number }: ReceivedCalls, now: number): model.RunState => ({
  ...run,
  status: 'running',
  // Its clock starts now.
  active_ms: run.active_ms - now,
  awaits_calls: undefined,
  received: number,
});

/** The caller has no more calls. Open tasks end before the run does. */
export function finishOpen(run: model.RunState, message: string): model.Transition {
  const end = { as: 'succeeded', message } as const;
  if (run.awaits_calls === undefined) {
    // The run has not started, or is about to wait.
    return {
      if: [
        model.runIs(run.status),
        model.isAbsent(model.runField.closing),
        model.turnIs(run.turn),
        model.openIs(0),
        model.receivedIs(run.received),
      ],
      events: [{ type: 'run.closing', data: end }],
    };
  }
  if (run.open_tasks > 0) return { if: isWaiting(run), events: [resumed(run), { type: 'run.closing', data: end }] };
  return {
    if: [...isWaiting(run), model.noOpenTasks],
    events: [resumed(run), { type: 'run.succeeded', data: { message } }],
  };
}

/** No calls came for too long. */
export const endIdle = (run: model.RunState, reason: Problem): model.Transition => ({
  if: isWaiting(run),
  events: [resumed(run), { type: 'run.closing', data: { as: 'failed', message: reason.message, reason } }],
});

/** The run still waits for the same calls as when the caller read the run. */
const isWaiting = (run: model.RunState): model.Condition[] => [
  model.runIs('waiting'),
  model.fieldIs(model.runField.awaits_calls, run.awaits_calls),
  model.turnIs(run.turn),
  model.receivedIs(run.received),
];

const resumed = ({ turn }: model.RunState): NewEvent => ({
  type: 'run.resumed',
  data: { after: 'calls', status: 'running', turn },
});
