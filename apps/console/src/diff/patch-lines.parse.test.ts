import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { patchLinesOf } from './patch-lines.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'patch-'));
  execFileSync('git', ['init', '-q'], { cwd: folder });
});
afterAll(() => rmSync(folder, { recursive: true }));

const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'core.quotePath=true', ...args], { cwd: folder, encoding: 'utf8' });

/** Lines that look like heads of files and hunks when they are removed, added or kept. */
const line = fc.constantFrom(
  '-- a/x',
  '++ b/y',
  '@@ -1 +1 @@',
  'diff --git a/x b/x',
  'text',
  '',
  '\\ No newline',
  '+',
  '-',
);
const file = fc.array(line, { maxLength: 12 });
const name = fc.constantFrom('plain.ts', 'with space.ts', 'grün "x".ts', 'tab\there', 'b/-- deep');

it('numbers every line as git does, whatever the lines and the names are', () => {
  fc.assert(
    fc.property(file, file, name, fc.nat(3), (before, after, path, context) => {
      mkdirSync(join(folder, 'b'), { recursive: true });
      const put = (lines: readonly string[]) => {
        writeFileSync(join(folder, path), lines.map((text) => `${text}\n`).join(''));
        git('add', '-A');
        return git('write-tree').trim();
      };
      const [one, two] = [put(before), put(after)];
      const found = patchLinesOf(git('diff', `-U${context}`, one, two)).filter(({ kind }) => kind !== 'file');
      for (const { kind, text, path: of, ...numbers } of found) {
        expect(of).toBe(path);
        if (kind === 'hunk') continue;
        if (numbers.old !== undefined) expect(before[numbers.old - 1]).toBe(text.slice(1));
        if (numbers.new !== undefined) expect(after[numbers.new - 1]).toBe(text.slice(1));
      }
      const count = (kind: string) => found.filter((each) => each.kind === kind).length;
      expect(count('plus') - count('minus')).toBe(after.length - before.length);
    }),
    { numRuns: 40 },
  );
});

it('reads a patch that is cut in the middle of a hunk', () => {
  const cut = patchLinesOf('--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n one\n-two\n');
  expect(cut.map(({ kind, old, new: next }) => [kind, old, next])).toEqual([
    ...[['file'], ['file'], ['hunk']].map(([kind]) => [kind, undefined, undefined]),
    ['same', 1, 1],
    ['minus', 2, undefined],
  ]);
});
