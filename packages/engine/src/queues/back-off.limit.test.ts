import { expect, it } from 'vitest';
import { backoffOf } from './queues.ts';

const half = () => 0.5;

it('waits longer before each retry, up to 30 s', () => {
  const waits = [1, 2, 3, 7, 8, 50].map((made) => backoffOf(made, new Error('lost'), half));
  expect(waits).toEqual([250, 500, 1000, 16_000, 30_000, 30_000]);
  expect([backoffOf(1, undefined, () => 0), backoffOf(1, undefined, () => 1)]).toEqual([125, 375]);
});

it('waits as long as the error says, up to an hour', () => {
  const saying = (retryAfterMs: unknown) => Object.assign(new Error('busy'), { retryAfterMs });
  expect([1500, 7_200_000, 'soon'].map((ms) => backoffOf(1, saying(ms), half))).toEqual([1500, 3_600_000, 250]);
});

it('waits as usual after a job that threw the reason of its abort', () => {
  expect(backoffOf(2, 'lock-lost', half)).toBe(500);
});
