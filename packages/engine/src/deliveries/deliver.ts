import { randomUUID } from 'node:crypto';
import { type DeliveryTry, defaultTenant, type LoggedEvent } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import * as runLog from '../log/index.ts';
import type { Logger } from '../ports/index.ts';
import { isFor } from './mark-events.ts';
import { idOf, type ReceiverState } from './state.ts';
import type { DeliveryStore, Lane, Settled } from './store.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** How long a delivery waits after its first failure, its second, and so on. After the last one the receiver is switched off. */
const retryDelays = [
  ...[5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour],
] as const;

/** The longest wait that a receiver may ask for. */
const longestWait = 24 * hour;

/**
 * Milliseconds until the next try; undefined: there is none. Up to a tenth more than the table, so that receivers which failed together do
 * not come back together.
 * @param failures including the last one
 * @param askedMs by Retry-After
 */
function delayAfter(failures: number, askedMs: number | undefined, random: () => number): number | undefined {
  const delay = retryDelays[failures - 1];
  if (delay === undefined) return undefined;
  return Math.round(Math.max(delay, Math.min(askedMs ?? 0, longestWait)) * (1 + random() / 10));
}

/** What became of a request. */
export interface Sent {
  /**
   * `event_failed`: the receiver refuses this event, so other runs continue. `receiver_failed`: nothing more is sent to it for a while.
   * `gone`: it wants nothing more. `stopped`: this process ends.
   */
  outcome: 'delivered' | 'event_failed' | 'receiver_failed' | 'gone' | 'stopped';
  status?: number | undefined;
  error?: string | undefined;
  /** By Retry-After. */
  waitMs?: number | undefined;
}

export interface DeliverDeps {
  redis: Redis;
  store: DeliveryStore;
  logger: Logger;
  now: () => number;
  random?: () => number;
  /** Has a receiver looked at. */
  wake: (id: string, at: number) => Promise<void>;
  /** Sends an event. Never throws for what a receiver does; ends within `holdMs`. */
  send: (receiver: ReceiverState, event: LoggedEvent) => Promise<Sent>;
  onTry: (receiver: ReceiverState, sent: Sent, ms: number) => void;
  /** A receiver was switched off. */
  onOff: (receiver: ReceiverState) => Promise<void>;
}

/** A holder of a lane is presumed dead after this time. Longer than a request takes. */
const holdMs = 60_000;
/** Requests to a receiver at the same time, by one process: of different runs, because a run has one at a time. */
const together = 8;
/** Events of a lane before other lanes have their turn. */
const inARow = 50;
/** Before another job continues. */
const lookMs = 30_000;

/** Sends what is due. Any process may die at any point, and several may look at once: a lane has one holder. */
export async function deliverTo(deps: DeliverDeps, id: string): Promise<void> {
  const end = deps.now() + lookMs;
  for (;;) {
    const found = await deps.store.find(id);
    if (found === undefined) return;
    const now = deps.now();
    const token = randomUUID();
    const { lanes, next } = await deps.store.claim(id, { now, until: now + holdMs, most: together, token });
    if (lanes.length === 0) return next === undefined ? undefined : deps.wake(id, next);
    const done = await Promise.allSettled(lanes.map((lane) => deliverLane(deps, found.state, { ...lane, token })));
    const failed = done.find((one) => one.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    if (deps.now() > end) return deps.wake(id, deps.now());
  }
}

type Held = Lane & { token: string };

/** Sends the events of a run in order, until one fails. */
async function deliverLane(deps: DeliverDeps, receiver: ReceiverState, lane: Held): Promise<void> {
  let { cursor, upto, failures } = lane;
  for (let sent = 0; sent < inARow; sent++) {
    const { event, seq } = await nextEvent(deps, receiver, { ...lane, cursor, upto });
    const settled: Settled =
      event === undefined
        ? { outcome: 'left_out', cursor: seq, dueAt: deps.now() + holdMs }
        : await sendEvent(deps, receiver, event, { ...lane, cursor, failures });
    const answer = await deps.store.settle(idOf(receiver), lane, { ...settled, now: deps.now() });
    if (answer === undefined) return;
    if ('failures' in answer) return;
    [cursor, upto, failures] = [settled.cursor, answer.upto, 0];
  }
  const now = deps.now();
  await deps.store.settle(idOf(receiver), lane, { outcome: 'released', cursor, dueAt: now, now });
}

/** A single event that a caller wants again is sent whatever the filter says. */
const isAgain = ({ name }: Lane): boolean => name.includes('@');
const runOf = ({ name }: Lane): string => name.split('@', 1)[0] ?? '';

/** The next event for the receiver; without one, the place up to which there is none. */
async function nextEvent(
  { redis, logger }: DeliverDeps,
  receiver: ReceiverState,
  lane: Held,
): Promise<{ event?: LoggedEvent; seq: number }> {
  const runId = runOf(lane);
  const run = await runLog.readRun(redis, runId);
  if (run === undefined || (run.tenant ?? defaultTenant) !== receiver.tenant) return { seq: lane.upto };
  for (let after = lane.cursor; after < lane.upto; ) {
    const entries = await runLog.readLogEntries(redis, runId, { after, limit: Math.min(lane.upto - after, 100) });
    for (const { seq, entry } of entries) {
      if (entry instanceof runLog.Damaged)
        logger.error({ run_id: runId, seq, err: entry.error }, 'an event is not sent: it cannot be read');
      else if (isAgain(lane) || isFor(receiver, run, entry)) return { event: entry, seq };
    }
    const last = entries.at(-1);
    if (last === undefined) return { seq: lane.upto };
    after = last.seq;
  }
  return { seq: lane.upto };
}

async function sendEvent(deps: DeliverDeps, receiver: ReceiverState, event: LoggedEvent, lane: Held): Promise<Settled> {
  const begun = deps.now();
  const sent = await deps.send(receiver, event);
  const now = deps.now();
  if (sent.outcome === 'stopped') return { outcome: 'released', cursor: lane.cursor, dueAt: now };
  deps.onTry(receiver, sent, now - begun);
  const record = recordOf(event, sent, { begun, now, again: isAgain(lane) });
  const { outcome, error, waitMs } = sent;
  if (outcome === 'delivered') return { outcome, cursor: event.seq, dueAt: now + holdMs, record };
  const kind = outcome === 'event_failed' ? 'event_failed' : 'receiver_failed';
  const before = kind === 'event_failed' ? lane.failures : (await deps.store.health(idOf(receiver))).failures;
  const delay = delayAfter(before + 1, waitMs, deps.random ?? Math.random);
  // The receiver is off before the failure is recorded: a process that dies between the two sends the event once more.
  if (outcome === 'gone') await switchOff(deps, receiver, 'it answered 410 Gone');
  else if (delay === undefined) await switchOff(deps, receiver, `${before + 1} tries failed; the last one: ${error}`);
  return { outcome: kind, cursor: lane.cursor, dueAt: now + (delay ?? 0), record, error };
}

function recordOf(
  { id, type, run_id, seq }: LoggedEvent,
  { outcome, status, error }: Sent,
  { begun, now, again }: { begun: number; now: number; again: boolean },
): DeliveryTry {
  return {
    ...{ event_id: id, type, run_id, seq, at: new Date(begun).toISOString(), ms: Math.max(0, now - begun) },
    outcome: outcome === 'delivered' ? 'delivered' : 'failed',
    ...(status !== undefined && { status }),
    ...(error !== undefined && { error: error.slice(0, 500) }),
    ...(again && { redelivered: true as const }),
  };
}

/** Sends nothing more until a caller switches the receiver on; what waits stays. */
async function switchOff(deps: DeliverDeps, receiver: ReceiverState, reason: string): Promise<void> {
  for (;;) {
    const found = await deps.store.find(idOf(receiver));
    if (found === undefined || found.state.off !== undefined) return;
    // A caller has changed it since: the failure was about the receiver before.
    if (found.state.version !== receiver.version) return;
    const off = { at: new Date(deps.now()).toISOString(), by: 'deliveries', reason };
    const state = { ...found.state, off };
    if ((await deps.store.put(state, { after: found.revision, now: deps.now() })) !== 'stored') continue;
    return deps.onOff(state);
  }
}
