import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addMonths } from '../src/dates.ts';
import { schedule } from '../src/schedule.ts';

process.env.TZ = 'UTC';

test('a year of invoices', () => {
  const dates = schedule('2026-01-15', { every: 1, days: 14 }, 12).map(({ date }) => date);
  assert.equal(dates[0], '2026-01-15');
  assert.equal(dates[11], '2026-12-15');
});

test('due dates', () => {
  assert.deepEqual(schedule('2026-02-20', { every: 3, days: 14 }, 1), [{ date: '2026-02-20', due: '2026-03-06' }]);
});

test('over the end of a year', () => {
  assert.equal(addMonths('2026-11-30', 2), '2027-01-30');
});
