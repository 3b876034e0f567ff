import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startPatience } from './patience.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** The milliseconds until the end, with a process that waits for a processor for a share of each millisecond. */
async function lengthOf(ms: number, shareAt: (at: number) => number): Promise<number> {
  const began = Date.now();
  const ended = vi.fn();
  let waited = 5000;
  startPatience({ processes: () => [7], waitOf: () => waited, now: Date.now }, ms, ended);
  for (let at = 0; at < 10 * ms && ended.mock.calls.length === 0; at++) {
    waited += shareAt(at);
    await vi.advanceTimersByTimeAsync(1);
  }
  expect(ended).toHaveBeenCalledTimes(1);
  return Date.now() - began;
}

test.each<[string, number, (at: number) => number, number]>([
  ['a process that runs or sleeps has its time', 5000, () => 0, 5000],
  ['a short time is no longer for a look', 300, () => 0, 300],
  ['a process without a processor has up to four times as long', 5000, () => 0.9, 20_000],
  ['a wait that is over long before does not count', 5000, (at) => (at < 3000 ? 1 : 0), 5000],
  [
    'a host that is busy at the end puts it off until it is not',
    5000,
    (at) => (at > 3500 && at < 7500 ? 0.9 : 0),
    8000,
  ],
])('%s', async (_, ms, shareAt, expected) => {
  const length = await lengthOf(ms, shareAt);
  expect(length).toBeGreaterThanOrEqual(expected - 1);
  expect(length).toBeLessThanOrEqual(expected + 1005);
});

test('a wait that is stopped ends nothing', async () => {
  const ended = vi.fn();
  startPatience({ processes: () => [], now: Date.now }, 100, ended)();
  await vi.advanceTimersByTimeAsync(1000);
  expect(ended).not.toHaveBeenCalled();
});
