import type { Json } from '@holdpoint/contract';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { capResult, cutText, sentBytes } from './cap-result.ts';

const cap = 16 * 1024;
const quotedTwice = (value: Json): number => Buffer.byteLength(JSON.stringify(JSON.stringify(value)));

test.each<[string, Json]>([
  ['a line of 3 MB', { stdout: `begin${'x'.repeat(3_000_000)}end`, exit_code: 0 }],
  ['200 KB of binary', { stdout: `begin${'\0\u0001"\\'.repeat(50_000)}end`, exit_code: 0 }],
  ['letters of two units', { stdout: `begin${'😀'.repeat(50_000)}end`, exit_code: 0 }],
])('%s keeps its shape and both ends', (_, value) => {
  const { value: cut, leftOut } = capResult(value, cap);
  expect(quotedTwice(cut)).toBeLessThan(cap * 1.1);
  expect(cut).toMatchObject({
    exit_code: 0,
    stdout: expect.stringMatching(/^begin.*characters are left out here.*end$/s),
  });
  expect(JSON.stringify(cut).isWellFormed()).toBe(true);
  expect((cut as { stdout: string }).stdout.isWellFormed()).toBe(true);
  expect(leftOut).toBeGreaterThan(100_000);
});

test('a long list keeps its first entries; a value without long parts is cut as text', () => {
  const matches = Array.from({ length: 20_000 }, (_, line) => ({ file: 'a.ts', line }));
  const value = capResult({ matches }, cap).value as { matches: object[] };
  expect(value.matches[0]).toEqual({ file: 'a.ts', line: 0 });
  expect(value.matches.length).toBeGreaterThan(50);
  const names = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`${'n'.repeat(60)}${n}`, n]));
  expect(quotedTwice(capResult(names, 1000).value)).toBeLessThan(1500);
});

test('any value: it is whole, or near the cap, and the same each time', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.integer({ min: 400, max: 5000 }), (json, most) => {
      const value = json as Json;
      const { value: cut, leftOut } = capResult(value, most);
      if (leftOut === 0) expect(cut).toEqual(value);
      expect(sentBytes(cut, Number.POSITIVE_INFINITY)).toBeLessThanOrEqual(most * 1.3 + 100);
      expect(capResult(value, most)).toEqual({ value: cut, leftOut });
    }),
    { numRuns: 300 },
  );
});

test('half of a character is never kept', () => {
  for (let most = 60; most < 160; most++) expect(cutText('😀a'.repeat(500), most).isWellFormed()).toBe(true);
});
