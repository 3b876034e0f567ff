import { expect, test } from 'vitest';
import { openClock } from './clock.ts';

const hour = 3_600_000;

/** Two clocks that a test moves, and the clock under test. */
function clocks() {
  const at = { wall: 1_700_000_000_000, monotonic: 0 };
  const now = openClock({ wall: () => at.wall, monotonic: () => at.monotonic });
  const pass = (ms: number) => {
    at.wall += ms;
    at.monotonic += ms;
  };
  return { at, now, pass, start: at.wall };
}

test('reads the time of day', () => {
  const { now, pass, start } = clocks();
  pass(5000);
  expect(now()).toBe(start + 5000);
});

test.each([hour, -hour])('ignores a wall clock that is off by %i ms for 12 s', (jump) => {
  const { at, now, pass, start } = clocks();
  at.wall += jump;
  for (let second = 1; second <= 12; second++) {
    pass(1000);
    expect(now()).toBe(start + second * 1000);
  }
  at.wall -= jump;
  pass(1000);
  expect(now()).toBe(start + 13_000);
});

test.each([hour, -hour])('trusts a wall clock that stays off by %i ms', (jump) => {
  const { at, now, pass, start } = clocks();
  at.wall += jump;
  now();
  pass(31_000);
  expect(now()).toBe(start + jump + 31_000);
});

test('follows the corrections of a time service, and never goes back', () => {
  const { at, now, pass } = clocks();
  let last = now();
  for (let step = 0; step < 1000; step++) {
    pass(10);
    at.wall -= 0.5;
    expect(now()).toBeGreaterThanOrEqual(last);
    last = now();
  }
  expect(Math.abs(last - at.wall)).toBeLessThan(10);
});
