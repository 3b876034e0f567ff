import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type DiffLine, rowsOf } from './diff-lines.ts';

const hunk = (lines: string[]) => ({
  old_start: 7,
  old_lines: lines.filter((line) => /^[ -]/.test(line)).length,
  new_start: 9,
  new_lines: lines.filter((line) => /^[ +]/.test(line)).length,
  lines,
});

test('both layouts show every line of a hunk once, with its number', () => {
  const line = fc.tuple(fc.constantFrom(' ', '+', '-'), fc.string({ maxLength: 6 })).map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 30 }), (lines) => {
      const file = { hunks: [hunk(lines)] };
      const unified = rowsOf(file, 'unified').flatMap((row) => (row.kind === 'line' ? [row.line] : []));
      expect(unified.map(({ kind, text }) => `${signs[kind]}${text}`)).toEqual(lines);
      const pairs = rowsOf(file, 'split').flatMap((row) => (row.kind === 'pair' ? [row] : []));
      const left = pairs.flatMap((row) => (row.left === undefined ? [] : [row.left]));
      const right = pairs.flatMap((row) => (row.right === undefined ? [] : [row.right]));
      expect(left).toEqual(unified.filter(({ kind }) => kind !== 'added'));
      expect(right).toEqual(unified.filter(({ kind }) => kind !== 'removed'));
      expect(left.map(({ old }) => old)).toEqual(left.map((_, at) => 7 + at));
      expect(right.map((each) => each.new)).toEqual(right.map((_, at) => 9 + at));
    }),
  );
});

test('a replaced line marks its changed part', () => {
  const rows = rowsOf({ hunks: [hunk(['-const size = 10;', '+const size = 20;'])] }, 'unified');
  const marked = rows.flatMap((row) =>
    row.kind === 'line' ? [row.line.text.slice(...(row.line.changed ?? [0, 0]))] : [],
  );
  expect(marked).toEqual(['1', '2']);
});

test('the end of a file without a newline is a row of its own in both layouts', () => {
  const file = { hunks: [hunk(['-a', '\\ No newline at end of file', '+b'])] };
  for (const layout of ['unified', 'split'] as const) {
    const notes = rowsOf(file, layout).filter((row) => row.kind === 'line' && row.line.kind === 'note');
    expect(notes).toHaveLength(1);
  }
  expect(rowsOf(file, 'split')).toHaveLength(3);
});

const signs: Record<DiffLine['kind'], string> = { same: ' ', added: '+', removed: '-', note: '' };
