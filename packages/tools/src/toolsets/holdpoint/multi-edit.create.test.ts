import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { useWorkspace } from '../../testing/workspace.ts';
import { editText } from '../../text-work/replace-text.ts';

const workspace = useWorkspace();
const multiEdit = (path: string, ...edits: [old_string: string, new_string: string, replace_all?: boolean][]) =>
  workspace().call('multi_edit', {
    path,
    edits: edits.map(([old_string, new_string, replace_all = false]) => ({ old_string, new_string, replace_all })),
  });

describe('multi_edit', () => {
  it('makes all edits in order, with one diff', async () => {
    await workspace().put('a.txt', 'one\r\ntwo\r\nthree');
    expect(await multiEdit('a.txt', ['one', '1'], ['1\r\ntwo', '1\r\n2'], ['e', 'E', true])).toMatchObject({
      status: 'succeeded',
      touched: ['a.txt'],
      value: {
        path: 'a.txt',
        replacements: 4,
        bytes: 11,
        diff: expect.stringContaining('-one\r\n-two\r\n-three\n'),
      },
    });
    expect((await workspace().get('a.txt')).toString()).toBe('1\r\n2\r\nthrEE');
  });

  it.each<[string, [string, string][], string, object]>([
    [
      'no match in the original',
      [
        ['one', '1'],
        ['zzz', 'x'],
      ],
      'ENOMATCH',
      { edit: 2 },
    ],
    [
      'a text that an earlier edit took away',
      [
        ['one', '1'],
        ['one', 'x'],
      ],
      'ENOMATCH',
      { edit: 2 },
    ],
    [
      'a text that an earlier edit doubled',
      [
        ['two', 'one'],
        ['one', 'x'],
      ],
      'EMULTIPLE',
      { edit: 2, lines: [1, 2] },
    ],
  ])('makes no edit with %s', async (_name, edits, code, value) => {
    await workspace().put('a.txt', 'one\ntwo\n');
    expect(await multiEdit('a.txt', ...edits)).toMatchObject({
      status: 'failed',
      error: { code, message: expect.stringMatching(/^Edit 2 of 2, .* No edit was made\.$/) },
      value,
      touched: [],
    });
    expect((await workspace().get('a.txt')).toString()).toBe('one\ntwo\n');
  });

  it('shows the whole change before, or why there is none', async () => {
    await workspace().put('a.txt', 'one\ntwo\n');
    const preview = (...texts: string[]) =>
      workspace().preview('multi_edit', {
        path: 'a.txt',
        edits: texts.map((old_string) => ({ old_string, new_string: `${old_string}!` })),
      });
    expect(await preview('one', 'two')).toMatchObject({ kind: 'diff', patch: expect.stringContaining('+two!') });
    expect(await preview('one', 'q')).toMatchObject({
      kind: 'problem',
      message: expect.stringContaining('Edit 2 of 2'),
    });
    expect((await workspace().get('a.txt')).toString()).toBe('one\ntwo\n');
  });

  it('keeps the change of another call that wrote in between', async () => {
    const names = ['alpha', 'beta', 'gamma', 'delta'];
    await workspace().put('a.txt', names.map((name) => `${name} = 0\n`).join(''));
    const ends = await Promise.all(
      names.map((name) => multiEdit('a.txt', [`${name} = 0`, `${name} = 1`], [`${name} =`, `${name}:`])),
    );
    expect(ends.map(({ status }) => status)).toEqual(names.map(() => 'succeeded'));
    expect((await workspace().get('a.txt')).toString()).toBe(names.map((name) => `${name}: 1\n`).join(''));
  });

  it.each([
    ['no edits', { edits: [] }],
    ['an edit without a change', { edits: [{ old_string: 'a', new_string: 'a' }] }],
    ['an edit of nothing', { edits: [{ old_string: '', new_string: 'a' }] }],
    [
      'edits of more text than a call has',
      { edits: Array(3).fill({ old_string: 'a', new_string: 'b'.repeat(900_000) }) },
    ],
  ])('refuses %s', async (_name, args) => {
    await workspace().put('a.txt', 'a');
    expect(await workspace().call('multi_edit', { path: 'a.txt', ...args })).toMatchObject({
      error: { code: 'EINVALIDARGS' },
    });
  });
});

const word = fc.constantFrom('a', 'b', 'ab', 'ba', '\n', '\r\n', 'é', '$&');
const text = (most: number) => fc.array(word, { minLength: 1, maxLength: most }).map((words) => words.join(''));
const edit = fc
  .record({ old_string: text(3), new_string: text(3), replace_all: fc.boolean() })
  .filter(({ old_string, new_string }) => old_string !== new_string);

/** A second implementation, on strings. */
function byHand(before: string, edits: readonly { old_string: string; new_string: string; replace_all: boolean }[]) {
  let now = before;
  for (const { old_string, new_string, replace_all } of edits) {
    const first = now.indexOf(old_string);
    if (first === -1 || (!replace_all && now.indexOf(old_string, first + 1) !== -1)) return undefined;
    now = now.split(old_string).join(new_string);
  }
  return now;
}

it('several edits are the edits one after the other, or nothing', () => {
  let made = 0;
  fc.assert(
    fc.property(text(20), fc.array(edit, { minLength: 1, maxLength: 4 }), (before, edits) => {
      const data = Buffer.from(before);
      const result = editText({ data, edits, path: 'f', diffBytes: 10_000 });
      expect(data.toString()).toBe(before);
      const wanted = byHand(before, edits);
      expect(result.status === 'replaced' ? result.data.toString() : undefined).toBe(wanted);
      if (wanted !== undefined) made += 1;
    }),
    { numRuns: 1500 },
  );
  expect(made).toBeGreaterThan(50);
});
