import { expect, test } from 'vitest';
import { isoOf, msOf } from './iso-time.ts';

test.each([0, 1, 999, 1000, 1_767_225_599_999, 1_767_225_600_000, 1_767_225_600_007, -1, -62_167_219_200_000])(
  '%d ms is written as Date writes it, and read again',
  (ms) => {
    for (const one of [ms, ms + 1, ms]) {
      expect(isoOf(one)).toBe(new Date(one).toISOString());
      expect(msOf(isoOf(one))).toBe(one);
    }
  },
);

test('a number that is no time is refused', () => {
  expect(() => isoOf(Number.NaN)).toThrow(RangeError);
  expect(() => isoOf(9e15)).toThrow(RangeError);
});
