import { expect, test } from 'vitest';
import { timesOf } from './testing/times-of.ts';
import { jitterOf, openClockwork, ScheduleTimesError } from './times.ts';

const iso = (time: number): string => new Date(time).toISOString().replace('.000', '');

function occurrences(given: Parameters<typeof timesOf>[0], from: string, count: number): string[] {
  const clockwork = openClockwork(timesOf(given), Date.parse(from));
  const found: string[] = [];
  for (let at = clockwork.after(Date.parse(from)); at !== undefined && found.length < count; at = clockwork.after(at))
    found.push(iso(at));
  return found;
}

test.each([
  ['* * *', 'expected five fields'],
  ['* * * *', 'expected five fields'],
  ['0 9 * * * *', 'expected five fields'],
  ['', 'expected five fields'],
  ['2026-12-24T00:00:00', 'expected five fields'],
  ['@reboot', 'expected five fields'],
  ['60 * * * *', 'minute'],
  ['0 24 * * *', 'hour'],
  ['*/70 * * * *', 'steps'],
  ['5-1 * * * *', 'larger'],
  ['a b c d e', ''],
])('the cron text %j is refused', (cron, words) => {
  const open = () => openClockwork(timesOf({ cron }), 0);
  expect(open).toThrow(ScheduleTimesError);
  expect(open).toThrow(words);
});

test('a zone that is none, and two kinds of times, are refused by their field', () => {
  const fieldOf = (given: Parameters<typeof timesOf>[0]) => {
    try {
      openClockwork(timesOf(given), 0);
      return 'none';
    } catch (error) {
      return (error as ScheduleTimesError).field;
    }
  };
  expect(fieldOf({ cron: '0 9 * * *', zone: 'Nowhere/City' })).toBe('zone');
  expect(fieldOf({ cron: '0 9 * * *', every_s: 60 })).toBe('every_s');
  expect(fieldOf({})).toBe('cron');
});

test('a date that never comes has no occurrence', () => {
  expect(occurrences({ cron: '0 0 30 2 *' }, '2026-01-01T00:00:00Z', 1)).toEqual([]);
  expect(occurrences({ cron: '0 0 29 2 *' }, '2026-01-01T00:00:00Z', 1)).toEqual(['2028-02-29T00:00:00Z']);
});

test('a time that a clock change leaves out comes right after the gap, and one that occurs twice comes once', () => {
  const zone = 'America/New_York';
  expect(occurrences({ cron: '30 2 * * *', zone }, '2026-03-07T00:00:00Z', 3)).toEqual([
    ...['2026-03-07T07:30:00Z', '2026-03-08T07:00:00Z', '2026-03-09T06:30:00Z'],
  ]);
  expect(occurrences({ cron: '30 1 * * *', zone }, '2026-10-31T00:00:00Z', 3)).toEqual([
    ...['2026-10-31T05:30:00Z', '2026-11-01T05:30:00Z', '2026-11-02T06:30:00Z'],
  ]);
  // Between the two half past one.
  expect(occurrences({ cron: '30 1 * * *', zone }, '2026-11-01T05:45:00Z', 1)).toEqual(['2026-11-02T06:30:00Z']);
  expect(occurrences({ cron: '30 * * * *', zone }, '2026-11-01T04:00:00Z', 3)).toEqual([
    ...['2026-11-01T04:30:00Z', '2026-11-01T05:30:00Z', '2026-11-01T06:30:00Z'],
  ]);
  // A clock that changes by half an hour.
  expect(occurrences({ cron: '15 2 * * *', zone: 'Australia/Lord_Howe' }, '2026-10-03T00:00:00Z', 2)).toEqual([
    ...['2026-10-03T15:30:00Z', '2026-10-04T15:15:00Z'],
  ]);
});

test('the end of a year', () => {
  expect(occurrences({ cron: '59 23 31 12 *', zone: 'Pacific/Auckland' }, '2026-06-01T00:00:00Z', 2)).toEqual([
    ...['2026-12-31T10:59:00Z', '2027-12-31T10:59:00Z'],
  ]);
});

test('an interval counts from its start, through clock changes, and to its end', () => {
  const times = { every_s: 3600, start_at: '2026-03-08T05:30:00Z', end_at: '2026-03-08T07:30:00Z' };
  expect(occurrences(times, '2026-03-01T00:00:00Z', 9)).toEqual([
    ...['2026-03-08T05:30:00Z', '2026-03-08T06:30:00Z', '2026-03-08T07:30:00Z'],
  ]);
  expect(occurrences({ every_s: 90 }, '2026-01-01T00:00:00Z', 2)).toEqual([
    ...['2026-01-01T00:01:30Z', '2026-01-01T00:03:00Z'],
  ]);
});

test('the jitter of an occurrence is the same everywhere, and within its bound', () => {
  const times = timesOf({ every_s: 60, jitter_s: 30 });
  const all = Array.from({ length: 500 }, (_, n) => jitterOf(times, 'default/nightly', n * 60_000));
  expect(all).toEqual(Array.from({ length: 500 }, (_, n) => jitterOf(times, 'default/nightly', n * 60_000)));
  expect(Math.min(...all)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...all)).toBeLessThan(30_000);
  expect(new Set(all).size).toBeGreaterThan(400);
});
