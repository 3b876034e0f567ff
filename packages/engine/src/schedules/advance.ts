import type { Occurrence } from '@holdpoint/contract';
import { type Due, idOf, type ScheduleState } from './store.ts';
import { type Clockwork, jitterOf, openClockwork } from './times.ts';

/** How a run of the schedule is: `gone` has ended, and nothing else is known of it. */
export type RunEnd = 'active' | 'succeeded' | 'failed' | 'gone';

export interface Advance {
  state: ScheduleState;
  /** What became of occurrences, in order. */
  recorded: Occurrence[];
  /** Runs that have to end before the next one begins. */
  cancel: string[];
  /** When to look at the schedule next, in milliseconds; undefined: not before a change. */
  wakeAt: number | undefined;
}

export interface Moment {
  now: number;
  /** How the runs in `running` are. */
  ends: ReadonlyMap<string, RunEnd>;
  /** Makes the id of a run. */
  newRunId: () => string;
}

/** Bounds of the time between two looks while an occurrence waits for the end of a run. */
const look = { least: 1000, most: 30_000 };
/** A record of missed occurrences counts no further. */
const mostCounted = 1000;

/**
 * Moves a schedule on to the present: counts the ends of its runs, decides about each occurrence that is due, and chooses at most one
 * occurrence to submit. Pure: the caller stores the new state before it submits.
 */
export function advance(before: ScheduleState, moment: Moment): Advance {
  const state = structuredClone(before);
  const recorded: Occurrence[] = [];
  const clockwork = openClockwork(state.times, Date.parse(state.anchor));
  const work: Work = { state, moment, clockwork, recorded };
  countEnds(work);
  while (state.submitting === undefined && takeDue(work));
  if (state.submitting === undefined) beginWaiting(work);
  state.last = recorded.at(-1) ?? state.last;
  return { state, recorded, cancel: toCancel(state), wakeAt: wakeAt(work) };
}

interface Work extends Pick<Advance, 'state' | 'recorded'> {
  moment: Moment;
  clockwork: Clockwork;
}

function countEnds(work: Work): void {
  const { state, moment } = work;
  for (const { run_id } of state.running) {
    const end = moment.ends.get(run_id) ?? 'active';
    if (end === 'succeeded') state.failures = 0;
    if (end === 'failed') state.failures += 1;
  }
  state.running = state.running.filter(({ run_id }) => (moment.ends.get(run_id) ?? 'active') === 'active');
  pauseIfFailing(state, moment.now);
  if (state.paused !== undefined) leaveWaiting(work);
}

/** What a person or a backfill asked for stays. */
function leaveWaiting(work: Work): void {
  for (const due of work.state.waiting) if (due.kind === 'scheduled') skip(work, due, 'the schedule was paused');
  work.state.waiting = work.state.waiting.filter(({ kind }) => kind !== 'scheduled');
}

/** Stops a schedule whose runs fail. */
export function pauseIfFailing(state: ScheduleState, now: number): void {
  const { pause_after } = state.times;
  if (pause_after === null || state.failures < pause_after || state.paused !== undefined) return;
  const reason = pause_after === 1 ? 'its last run failed' : `its last ${state.failures} runs failed`;
  state.paused = { at: isoOf(now), by: 'the schedule', reason };
}

/** Decides about the next occurrence, if it is due. @returns whether another one may be due */
function takeDue(work: Work): boolean {
  const { state, moment, clockwork } = work;
  if (state.next === undefined || state.paused !== undefined) return false;
  const at = Date.parse(state.next);
  const begins = at + jitterOf(state.times, idOf(state), at);
  if (begins > moment.now) return false;
  if (moment.now - begins > state.times.catch_up_s * 1000) return miss(work, at);
  state.next = textOf(clockwork.after(at));
  decide(work, { at: isoOf(at), kind: 'scheduled' });
  return true;
}

/** Leaves out the occurrences that are too late to begin. */
function miss({ state, moment, clockwork, recorded }: Work, first: number): true {
  const { catch_up_s, jitter_s } = state.times;
  // With a jitter, later occurrences may still begin in time: each of them is looked at by itself.
  const still = moment.now - (catch_up_s + jitter_s) * 1000;
  let [last, count] = [first, 1];
  let next = clockwork.after(first);
  while (next !== undefined && next < still && count < mostCounted) {
    [last, count] = [next, count + 1];
    next = clockwork.after(next);
  }
  if (next !== undefined && next < still) next = clockwork.after(still - 1);
  state.next = textOf(next);
  recorded.push({
    ...{ scheduled_for: isoOf(first), kind: 'scheduled', outcome: 'missed', recorded_at: isoOf(moment.now) },
    ...(count > 1 && { until: isoOf(last), count }),
    reason: `it could not begin within ${catch_up_s} s`,
  });
  return true;
}

function decide(work: Work, due: Due): void {
  const { state } = work;
  const isBusy = state.running.length > 0 || state.waiting.length > 0;
  const { overlap } = state.times;
  if (!isBusy || overlap === 'allow') begin(work, due);
  else if (overlap === 'skip') skip(work, due, 'a run of the schedule has not ended');
  else queue(work, due);
}

/** One occurrence waits at most: the first with `queue_one`, the last with `cancel_other`. */
function queue(work: Work, due: Due): void {
  const { state } = work;
  const queued = state.waiting.find(({ kind }) => kind === 'scheduled');
  const isFirst = state.times.overlap === 'queue_one';
  if (queued !== undefined && isFirst) {
    skip(work, due, `the occurrence of ${queued.at} waits already`);
    return;
  }
  if (queued !== undefined) skip(work, queued, `the occurrence of ${due.at} takes its place`);
  state.waiting = [...state.waiting.filter((one) => one !== queued), due];
}

/** Asked for at every look until the runs have ended: a process may die before it asks. */
const toCancel = ({ times, waiting, running }: ScheduleState): string[] =>
  times.overlap === 'cancel_other' && waiting.some(({ kind }) => kind === 'scheduled')
    ? running.map(({ run_id }) => run_id)
    : [];

function skip({ moment, recorded }: Work, { at, kind }: Due, reason: string): void {
  recorded.push({ scheduled_for: at, kind, outcome: 'skipped', recorded_at: isoOf(moment.now), reason });
}

function begin({ state, moment }: Work, due: Due): void {
  state.submitting = { ...due, run_id: moment.newRunId(), since: isoOf(moment.now) };
}

function beginWaiting(work: Work): void {
  const { state } = work;
  const found =
    state.waiting.find(({ beside }) => beside) ?? (state.running.length === 0 ? state.waiting[0] : undefined);
  if (found === undefined) return;
  state.waiting = state.waiting.filter((one) => one !== found);
  begin(work, found);
}

function wakeAt({ state, moment }: Work): number | undefined {
  if (state.submitting !== undefined) return moment.now;
  const times = state.waiting.length > 0 ? [moment.now + lookAfter(state, moment.now)] : [];
  if (state.next !== undefined && state.paused === undefined) {
    const at = Date.parse(state.next);
    times.push(at + jitterOf(state.times, idOf(state), at));
  }
  return times.length === 0 ? undefined : Math.min(...times);
}

/** A tenth of the time that the youngest run has had. */
function lookAfter({ running }: ScheduleState, now: number): number {
  const age = now - Math.max(...running.map(({ since }) => Date.parse(since)));
  return Math.min(Math.max(age / 10, look.least), look.most);
}

const isoOf = (time: number): string => new Date(time).toISOString();
const textOf = (time: number | undefined): string | undefined => (time === undefined ? undefined : isoOf(time));
