import { expect, test } from 'vitest';
import { openClock } from './clock.ts';

const hour = 3_600_000;

/** Two clocks that a test moves, and the one that is made of them. */
function clocks() {
  const at = { wall: 1_700_000_000_000, steady: 0 };
  const now = openClock({ wall: () => at.wall, steady: () => at.steady });
  const pass = (ms: number) => {
    at.wall += ms;
    at.steady += ms;
  };
  return { at, now, pass, start: at.wall };
}

test('it tells the time of day', () => {
  const { now, pass, start } = clocks();
  pass(5000);
  expect(now()).toBe(start + 5000);
});

test.each([hour, -hour])('a wall clock that is off by %i ms for 12 s changes nothing', (jump) => {
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

test.each([hour, -hour])('one that stays off by %i ms is believed', (jump) => {
  const { at, now, pass, start } = clocks();
  at.wall += jump;
  now();
  pass(31_000);
  expect(now()).toBe(start + jump + 31_000);
});

test('the corrections of a time service are followed, and the time never goes back by more than they do', () => {
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
