import { expect, test } from 'vitest';
import { isAbandoned, timeOfId } from './id-time.ts';
import { newIdBy } from './new-id.ts';

test('an id has the time of the clock that it is made by, and is a UUIDv7', () => {
  const now = Date.parse('2031-02-03T04:05:06.789Z');
  const id = newIdBy(() => now)('run');
  expect(timeOfId(id)).toBe(now);
  expect(id).toMatch(/^run_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(isAbandoned(id, now + 59_000)).toBe(false);
  expect(newIdBy(() => now)('run')).not.toBe(id);
});
