import type { Occurrence } from '@holdpoint/contract';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { advance, type RunEnd } from './advance.ts';
import type { ScheduleState } from './store.ts';
import { stateOf } from './testing/times-of.ts';
import { openClockwork } from './times.ts';

const began = Date.parse('2026-03-07T00:00:30Z');
const minute = 60_000;
const isoOf = (time: number) => new Date(time).toISOString();

/** A schedule whose submissions succeed at once, and whose runs take as long as a test says. */
function simulate(given: Parameters<typeof stateOf>[0]) {
  let state: ScheduleState = stateOf(given, began);
  state.next = isoOf(openClockwork(state.times, began).after(began) ?? 0);
  const ends = new Map<string, { at: number; how: RunEnd }>();
  const recorded: Occurrence[] = [];
  const canceled: string[] = [];
  let ids = 0;
  return {
    recorded,
    canceled,
    state: () => state,
    set: (more: Partial<ScheduleState>) => {
      state = { ...state, ...more };
    },
    /** One look, with the submissions that follow. @param lasts milliseconds of a run */
    look(now: number, lasts: number, how: RunEnd = 'succeeded'): number | undefined {
      for (let round = 0; round < 5000; round++) {
        const known = new Map([...ends].filter(([, { at }]) => at <= now).map(([id, end]) => [id, end.how] as const));
        const next = advance(state, { now, ends: known, newRunId: () => `run_${++ids}` });
        state = next.state;
        recorded.push(...next.recorded);
        canceled.push(...next.cancel);
        for (const id of next.cancel) ends.set(id, { at: now + 1, how: 'gone' });
        const { submitting, ...rest } = state;
        if (submitting === undefined) return next.wakeAt;
        ends.set(submitting.run_id, { at: now + lasts, how });
        const { at, kind, run_id } = submitting;
        recorded.push({ scheduled_for: at, kind, outcome: 'submitted', recorded_at: isoOf(now), run_id });
        state = { ...rest, running: [...rest.running, { run_id, scheduled_for: at, since: isoOf(now) }] };
      }
      throw new Error('it does not come to rest');
    },
    submitted: () =>
      recorded.filter(({ outcome }) => outcome === 'submitted').map(({ scheduled_for }) => scheduled_for),
  };
}

const overlap = fc.constantFrom('skip', 'queue_one', 'cancel_other', 'allow');
const times = fc.oneof(
  fc.record({ every_s: fc.integer({ min: 60, max: 400 }) }),
  fc.record({ cron: fc.constantFrom('* * * * *', '*/7 * * * *', '13,14,40 * * * *', '30 2 * * *') }),
);
const looks = fc.array(
  fc.record({ wait: fc.integer({ min: 1, max: 40 * minute }), lasts: fc.integer({ min: 1, max: 30 * minute }) }),
  { minLength: 1, maxLength: 40 },
);

/** By their own definition, without the schedule: every occurrence until a time. */
function every(state: ScheduleState, until: number): string[] {
  const clockwork = openClockwork(state.times, began);
  const found: string[] = [];
  for (let at = clockwork.after(began); at !== undefined && at <= until; at = clockwork.after(at))
    found.push(isoOf(at));
  return found;
}

test('whenever it is looked at, each occurrence has one fate, and no run begins beside another unless both are allowed', () => {
  const given = fc.tuple(overlap, times, fc.integer({ min: 10, max: 3600 }), fc.integer({ min: 0, max: 50 }), looks);
  const property = fc.property(given, ([overlap, times, catch_up_s, jitter_s, steps]) => {
    const schedule = simulate({ ...times, overlap, catch_up_s, jitter_s, pause_after: null });
    let now = began;
    for (const { wait, lasts } of steps) {
      now += wait;
      const most = schedule.state().running.length;
      schedule.look(now, lasts);
      if (overlap !== 'allow') expect(schedule.state().running.length).toBeLessThanOrEqual(Math.max(1, most));
      expect(schedule.state().waiting.length).toBeLessThanOrEqual(overlap === 'allow' || overlap === 'skip' ? 0 : 1);
    }
    const { next, waiting } = schedule.state();
    const all = every(schedule.state(), next === undefined ? now : Date.parse(next) - 1);
    const fates = schedule.recorded.flatMap((one) =>
      one.until === undefined
        ? [one.scheduled_for]
        : all.filter((at) => at >= one.scheduled_for && at <= (one.until ?? '')),
    );
    expect([...fates, ...waiting.map(({ at }) => at)].toSorted()).toEqual(all);
    for (const { scheduled_for, until, recorded_at, outcome } of schedule.recorded) {
      expect(recorded_at >= scheduled_for).toBe(true);
      const late = Date.parse(recorded_at) - Date.parse(until ?? scheduled_for);
      if (outcome === 'missed') expect(late).toBeGreaterThan(catch_up_s * 1000);
    }
  });
  fc.assert(property, { numRuns: 150 });
});

test('a machine that slept for a week starts one run, and says what was missed', () => {
  const schedule = simulate({ cron: '* * * * *' });
  schedule.look(began + 7 * 24 * 60 * minute, minute);
  expect(schedule.submitted()).toHaveLength(1);
  const [missed] = schedule.recorded;
  expect(missed).toMatchObject({ outcome: 'missed', count: 1000, scheduled_for: '2026-03-07T00:01:00.000Z' });
  expect(schedule.recorded.filter(({ outcome }) => outcome === 'skipped')).toHaveLength(4);
});

test('a catch-up window of a week starts what was missed, one run after the other', () => {
  const schedule = simulate({ cron: '0 * * * *', overlap: 'allow', catch_up_s: 7 * 86_400 });
  schedule.look(began + 24 * 60 * minute, minute);
  expect(schedule.submitted()).toHaveLength(24);
});

test('queue_one keeps the first that waits, cancel_other the last', () => {
  const first = simulate({ every_s: 60, overlap: 'queue_one' });
  const last = simulate({ every_s: 60, overlap: 'cancel_other' });
  for (const schedule of [first, last]) {
    schedule.look(began + minute, 100 * minute);
    schedule.look(began + 3 * minute, 100 * minute);
  }
  expect(first.state().waiting).toMatchObject([{ at: isoOf(began + 2 * minute) }]);
  expect(first.canceled).toEqual([]);
  expect(last.state().waiting).toMatchObject([{ at: isoOf(began + 3 * minute) }]);
  expect(last.canceled).toEqual(['run_1']);
  last.look(began + 3 * minute + 5000, minute);
  expect(last.submitted()).toEqual([isoOf(began + minute), isoOf(began + 3 * minute)]);
});

test('failures in a row pause it, a success between them does not', () => {
  const schedule = simulate({ every_s: 60, pause_after: 3 });
  const how: RunEnd[] = ['failed', 'failed', 'succeeded', 'failed', 'failed', 'failed', 'failed'];
  how.forEach((end, n) => void schedule.look(began + (n + 1) * minute, 1000, end));
  expect(schedule.state().paused).toMatchObject({ by: 'the schedule', reason: 'its last 3 runs failed' });
  expect(schedule.submitted()).toHaveLength(6);
  expect(schedule.look(began + 60 * minute, 1000)).toBeUndefined();
});

test('while it is paused, a person’s occurrence begins, and one by the clock that waited does not', () => {
  const schedule = simulate({ every_s: 60, overlap: 'queue_one' });
  schedule.look(began + minute, 100 * minute);
  schedule.look(began + 2 * minute, minute);
  schedule.set({
    paused: { at: isoOf(began), by: 'ann' },
    waiting: [...schedule.state().waiting, { at: isoOf(began + 7), kind: 'triggered', beside: true }],
  });
  schedule.look(began + 3 * minute, minute);
  expect(schedule.submitted()).toEqual([isoOf(began + minute), isoOf(began + 7)]);
  expect(schedule.recorded.at(-2)).toMatchObject({ outcome: 'skipped', reason: 'the schedule was paused' });
});
