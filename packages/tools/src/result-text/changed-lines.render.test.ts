import { expect, test } from 'vitest';
import { unifiedDiff } from '../text-work/patch.ts';
import { renderEdit, renderPatch } from './changed-file.ts';
import { changedLines } from './changed-lines.ts';

const numbers = Array.from({ length: 40 }, (_, at) => `line ${at + 1}`);
const joined = (lines: readonly string[]): string => `${lines.join('\n')}\n`;

function shown(before: string, after: string): string | undefined {
  const diff = unifiedDiff({ path: 'a.txt', before, after });
  return changedLines(diff)?.get('a.txt')?.text;
}

test('a long change shows both ends, and each place stands with the lines beside it', () => {
  const added = Array.from({ length: 9 }, (_, at) => `new ${at}`);
  const after = numbers.toSpliced(4, 2, ...added).toSpliced(30, 1, 'other');
  expect(shown(joined(numbers), joined(after))).toBe(
    '4\tline 4\n5\tnew 0\n…\n13\tnew 8\n14\tline 7\n…\n30\tline 23\n31\tother\n32\tline 25',
  );
});

test('three new lines stand whole, and a removal shows the two lines that meet', () => {
  expect(shown(joined(numbers), joined(numbers.toSpliced(9, 1, 'a', 'b', 'c')))).toBe(
    '9\tline 9\n10\ta\n11\tb\n12\tc\n13\tline 11',
  );
  expect(shown(joined(numbers), joined(numbers.toSpliced(9, 5)))).toBe('9\tline 9\n10\tline 15');
  expect(shown('a\nb\nc\nd\n', 'a\nb\nc\nd\n1\n2\n3\n4\n')).toBe('4\td\n5\t1\n…\n8\t4');
  expect(shown('all\n', '')).toBe('');
});

test('no line of a file passes for a head of the diff, and a control character stays visible', () => {
  const hostile = ['@@ -1,9 +1,9 @@', '-- a/other', '++ b/other', '\\ No newline at end of file', 'bell \u0007'];
  const after = joined([...hostile.slice(0, 2), 'x', ...hostile.slice(2)]);
  expect(shown(joined(hostile), after)).toBe('2\t-- a/other\n3\tx\n4\t++ b/other');
  expect(shown(after, joined(hostile))).toBe('2\t-- a/other\n3\t++ b/other');
  expect(shown('a\n', joined(hostile.toReversed()))).toBe('1\tbell <U+0007>\n…\n5\t@@ -1,9 +1,9 @@');
});

const edited = (before: string, after: string, isCut = false) => {
  const diff = unifiedDiff({ path: 'a.txt', before, after });
  const value = { path: 'a.txt', replacements: 1, diff: isCut ? diff.slice(0, 60) : diff, diff_truncated: isCut };
  return renderEdit({ status: 'succeeded', value });
};

test('the head says when the file lost the line break at its end', () => {
  expect(edited('a\nb\n', 'a\nc')).toEqual({
    head: 'changed a.txt: 1 replacement; no line break at the end',
    body: '1\ta\n2\tc',
  });
  expect(edited('a\nb', 'a\nb\n')?.head).toBe('changed a.txt: 1 replacement');
  expect(edited('a\r\nb\r\n', 'a\r\nc\r\n')?.body).toBe('1\ta\n2\tc');
});

test('a diff that was cut is shown as it is, because its places are not all there', () => {
  expect(edited(joined(numbers), joined(numbers.toSpliced(9, 1, 'a')), true)).toEqual({
    head: 'changed a.txt: 1 replacement; the end of the diff is left out',
    body: expect.stringMatching(/^@@ -7,7 \+7,7 @@\n line 7\n/),
  });
});

test('a patch has the numbers of the new lines of each file', () => {
  const after = numbers.toSpliced(4, 1, 'a', 'b').toSpliced(30, 1, 'other');
  const diff = [
    unifiedDiff({ path: 'a.txt', before: joined(numbers), after: joined(after) }),
    unifiedDiff({ path: 'new.txt', before: null, after: 'a\n' }),
    unifiedDiff({ path: 'less.txt', before: 'a\nb\n', after: 'a\n' }),
  ].join('');
  const changed = ['a.txt', 'less.txt'].map((path) => ({ path, change: 'changed' }));
  const files = [...changed, { path: 'new.txt', change: 'added' }];
  const value = { files, diff, diff_truncated: false };
  expect(renderPatch({ status: 'succeeded', value })?.body).toBe(
    'changed a.txt: lines 5-6, 31\nchanged less.txt\nadded new.txt',
  );
  expect(renderPatch({ status: 'succeeded', value: { ...value, diff_truncated: true } })?.body).toBe(
    'changed a.txt\nchanged less.txt\nadded new.txt',
  );
});
