import { chmod, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useWorkspace } from '../../testing/workspace.ts';

const workspace = useWorkspace();
const edit = (args: unknown) => workspace().call('edit', args);

describe('edit', () => {
  it.each<[string, Buffer, string, string, Buffer]>([
    ['CRLF', Buffer.from('a\r\nb\r\nc\r\n'), 'b\r\n', 'B\r\n', Buffer.from('a\r\nB\r\nc\r\n')],
    ['a missing last newline', Buffer.from('a\nb'), 'a', 'A', Buffer.from('A\nb')],
    ['a byte order mark', Buffer.from('\uFEFFa\n'), 'a', 'b', Buffer.from('\uFEFFb\n')],
    ['a literal replacement', Buffer.from('cost\n'), 'cost', "$& $1 $$ $` $'", Buffer.from("$& $1 $$ $` $'\n")],
    [
      'bytes that are not UTF-8',
      Buffer.from('caf\xe9 one\n', 'latin1'),
      'one',
      'two',
      Buffer.from('caf\xe9 two\n', 'latin1'),
    ],
  ])('keeps %s, byte for byte', async (_name, before, old_string, new_string, after) => {
    await workspace().put('a.txt', before);
    expect(await edit({ path: 'a.txt', old_string, new_string })).toMatchObject({
      status: 'succeeded',
      touched: ['a.txt'],
    });
    expect(await workspace().get('a.txt')).toEqual(after);
  });

  it('reports the change', async () => {
    await workspace().put('src/a.js', 'let a;\nlet b;\nlet c;\n');
    expect(
      await workspace().value('edit', { path: 'src/a.js', old_string: 'let', new_string: 'const', replace_all: true }),
    ).toEqual({
      path: 'src/a.js',
      replacements: 3,
      lines: [1, 2, 3],
      bytes: 27,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      diff: '--- a/src/a.js\n+++ b/src/a.js\n@@ -1,3 +1,3 @@\n-let a;\n-let b;\n-let c;\n+const a;\n+const b;\n+const c;\n',
      diff_truncated: false,
    });
  });

  it('keeps the mode of the file', async () => {
    await workspace().put('run.sh', '#!/bin/sh\necho one\n');
    await chmod(join(workspace().path, 'run.sh'), 0o755);
    await workspace().value('edit', { path: 'run.sh', old_string: 'one', new_string: 'two' });
    expect((await stat(join(workspace().path, 'run.sh'))).mode & 0o777).toBe(0o755);
  });

  it('refuses a text that occurs several times, with the lines', async () => {
    await workspace().put('a.txt', 'x\ny\nx\n');
    expect(await edit({ path: 'a.txt', old_string: 'x', new_string: 'z' })).toMatchObject({
      status: 'failed',
      error: { code: 'EMULTIPLE', message: expect.stringContaining('lines 1, 3') },
      value: { count: 2, lines: [1, 3] },
      touched: [],
    });
    expect((await workspace().get('a.txt')).toString()).toBe('x\ny\nx\n');
  });

  it('refuses a text that does not occur, with the nearest line', async () => {
    await workspace().put('a.txt', 'one\r\n\ttwo  three\r\nfour\r\n');
    expect(await edit({ path: 'a.txt', old_string: 'two three', new_string: 'x' })).toMatchObject({
      error: { code: 'ENOMATCH', next: expect.stringContaining('whitespace') },
      value: { nearest: { line: 2, text: '\ttwo  three\r\n', differs_in: 'whitespace' } },
    });
    expect(await edit({ path: 'a.txt', old_string: 'three\nfour', new_string: 'x' })).toMatchObject({
      error: { code: 'ENOMATCH', next: expect.stringContaining('line endings') },
    });
    expect(await edit({ path: 'a.txt', old_string: 'zzz', new_string: 'x' })).toMatchObject({
      value: { nearest: null },
    });
  });

  it('loses no edit among concurrent writers', async () => {
    const names = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta'];
    await workspace().put('a.txt', names.map((name) => `${name} = 0\n`).join(''));
    const outcomes = await Promise.all(
      names.map((name) => edit({ path: 'a.txt', old_string: `${name} = 0`, new_string: `${name} = 1` })),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(names.map(() => 'succeeded'));
    expect((await workspace().get('a.txt')).toString()).toBe(names.map((name) => `${name} = 1\n`).join(''));
  });

  it.each([
    ['a missing file', { path: 'nope' }, 'ENOENT'],
    ['a file outside', { path: '/etc/passwd' }, 'EOUTSIDE'],
    ['a link that leads out', { path: 'out' }, 'EOUTSIDE'],
    ['a binary file', { path: 'bin' }, 'EBINARY'],
    ['equal texts', { path: 'bin', new_string: 'root' }, 'EINVALIDARGS'],
    ['an empty old text', { path: 'bin', old_string: '' }, 'EINVALIDARGS'],
  ])('refuses %s', async (_name, args, code) => {
    await symlink('/etc/passwd', join(workspace().path, 'out'));
    await workspace().put('bin', Buffer.from('root\0'));
    expect(await edit({ old_string: 'root', new_string: 'toor', ...args })).toMatchObject({
      status: 'failed',
      error: { code },
    });
  });

  it('reports that a refused edit touched nothing', async () => {
    await workspace().put('bin', Buffer.from('x\0'));
    await workspace().put('a.txt', 'x');
    expect(await edit({ path: 'bin', old_string: 'x', new_string: 'y' })).toMatchObject({
      status: 'failed',
      touched: [],
    });
    expect(await edit({ path: 'a.txt', old_string: 'q', new_string: 'y' })).toMatchObject({
      status: 'failed',
      touched: [],
    });
  });

  it('limits the diff in the result', async () => {
    await workspace().put('long.txt', 'x\n'.repeat(20_000));
    const value = await workspace().value('edit', {
      path: 'long.txt',
      old_string: 'x',
      new_string: 'y',
      replace_all: true,
    });
    expect(value).toMatchObject({ replacements: 20_000, bytes: 40_000, diff_truncated: true });
    expect((value as { diff: string }).diff.length).toBeLessThanOrEqual(32 * 1024);
  });
});

describe('the preview of edit', () => {
  it('is the diff of the edit', async () => {
    await workspace().put('a.txt', 'one\r\ntwo');
    const args = { path: 'a.txt', old_string: 'two', new_string: 'three' };
    const preview = await workspace().preview('edit', args);
    expect((await workspace().get('a.txt')).toString()).toBe('one\r\ntwo');
    const { diff } = (await workspace().value('edit', args)) as { diff: string };
    expect(preview).toEqual({ kind: 'diff', path: 'a.txt', patch: diff });
  });

  it('shows why the edit would fail', async () => {
    await workspace().put('a.txt', 'x x');
    const preview = (args: object) => workspace().preview('edit', { path: 'a.txt', new_string: 'y', ...args });
    expect(await preview({ old_string: 'x' })).toMatchObject({
      kind: 'problem',
      message: expect.stringContaining('2 times'),
    });
    expect(await preview({ old_string: 'q' })).toMatchObject({
      kind: 'problem',
      message: expect.stringContaining('does not occur'),
    });
  });
});
