import { expect, test } from 'vitest';
import { withComments } from './send-message.ts';

const most = 100_000;
const snapshot = 'a'.repeat(40);

test('comments follow the words, each with its file, line and quote', () => {
  const text = withComments(
    'Not yet.',
    [
      { path: 'src/a.ts', line: 12, snapshot, quote: '  retries: 3,', text: 'Why three?\nFive is usual.' },
      { path: 'b\n.ts', line: 1, side: 'old', text: 'Keep this.' },
    ],
    { most },
  );
  expect(text).toBe(
    [
      'Not yet.',
      'Comments on lines:',
      'src/a.ts, line 12 (snapshot aaaaaaaaaa)\n>   retries: 3,\nWhy three?\nFive is usual.',
      `${text?.split('\n\n').at(-1)}`,
    ].join('\n\n'),
  );
  expect(text).toMatch(/\nb[^\n]+\.ts, line 1, before the change\nKeep this\.$/);
});

test('without comments the words stay as they are; without words the comments stand alone', () => {
  expect(withComments('yes', undefined, { most })).toBe('yes');
  expect(withComments(undefined, [], { most })).toBeUndefined();
  expect(withComments(undefined, [{ path: 'a', line: 1, text: 'x' }], { most })).toBe(
    'Comments on lines:\n\na, line 1\nx',
  );
});

test('too much text is refused with the count', () => {
  const comments = Array.from({ length: 20 }, () => ({ path: 'a', line: 1, text: 'x'.repeat(9000) }));
  expect(() => withComments('see', comments, { most })).toThrow(/180\d{3} characters together, and 100000 are allowed/);
});
