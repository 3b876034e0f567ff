import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findText } from './find-text.ts';

const few = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 40 });

test('finds what indexOf finds, with and without overlaps', () => {
  const find = (text: string, wanted: string, overlapping: boolean) => {
    const offsets: number[] = [];
    findText(Buffer.from(text), Buffer.from(wanted), { overlapping }, (offset) => offsets.push(offset) > 0);
    return offsets;
  };
  const byIndexOf = (text: string, wanted: string, stride: number) => {
    const offsets: number[] = [];
    for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + stride)) offsets.push(at);
    return offsets;
  };
  fc.assert(
    fc.property(few, few, (text, wanted) => {
      fc.pre(wanted !== '');
      expect(find(text, wanted, true)).toEqual(byIndexOf(text, wanted, 1));
      expect(find(text, wanted, false)).toEqual(byIndexOf(text, wanted, wanted.length));
    }),
    { numRuns: 2000 },
  );
});

test('stops when visit returns false', () => {
  let seen = 0;
  findText(Buffer.alloc(100, 'a'), Buffer.from('a'), { overlapping: true }, () => ++seen < 3);
  expect(seen).toBe(3);
});
