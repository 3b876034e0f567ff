import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { FileDiff } from '../diff-lines.ts';
import { moveLine } from './move-line.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lines-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The hunks of git itself. */
function hunksOf(before: readonly string[], after: readonly string[], context: number): FileDiff['hunks'] {
  const [a, b] = [join(folder, 'a'), join(folder, 'b')];
  writeFileSync(a, before.map((text) => `${text}\n`).join(''));
  writeFileSync(b, after.map((text) => `${text}\n`).join(''));
  const patch = diffOf(['diff', '--no-index', '--no-color', `-U${context}`, a, b]);
  return patch
    .split(/^(?=@@ )/m)
    .filter((part) => part.startsWith('@@ '))
    .map((part) => {
      const [head = '', ...lines] = part.replace(/\n$/, '').split('\n');
      const [, oldStart, oldLines = '1', newStart, newLines = '1'] =
        /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(head) ?? [];
      return {
        ...{ old_start: Number(oldStart), old_lines: Number(oldLines) },
        ...{ new_start: Number(newStart), new_lines: Number(newLines), lines },
      };
    });
}

/** git ends with 1 when the files differ. */
function diffOf(args: string[]): string {
  try {
    return execFileSync('git', args, { encoding: 'utf8' });
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

/** Every line is another text, so where a line went is known without the hunks. */
const edit = fc.record({
  size: fc.integer({ min: 1, max: 40 }),
  removed: fc.array(fc.nat(39), { maxLength: 15 }),
  inserted: fc.array(fc.nat(40), { maxLength: 15 }),
  context: fc.constantFrom(0, 1, 3),
});

it('finds each line where git left it, and knows the lines that are gone', () => {
  fc.assert(
    fc.property(edit, ({ size, removed, inserted, context }) => {
      const before = Array.from({ length: size }, (_, at) => `line ${at}`);
      const after = before.flatMap((text, at) => [
        ...inserted.filter((place) => place === at).map((_, each) => `new ${at} ${each}`),
        ...(removed.includes(at) ? [] : [text]),
      ]);
      const hunks = hunksOf(before, after, context);
      for (const [at, text] of before.entries()) {
        const there = after.indexOf(text);
        expect(moveLine(hunks, at + 1), text).toBe(there < 0 ? undefined : there + 1);
      }
    }),
    { numRuns: 60 },
  );
});
