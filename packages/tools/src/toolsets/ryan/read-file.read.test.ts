import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useWorkspace } from '../../testing/workspace.ts';
import { ryan } from './toolset.ts';

const workspace = useWorkspace(ryan);
const read = (path: string, range: object = {}, settings: object = {}) =>
  workspace().result('read_file', { path, ...range }, { settings });
const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `L${from + index}\n`).join('');

// covers S1-20
test('returns the whole file unchanged', async () => {
  for (const text of ['', 'one', 'a\r\nb\r\n', '\ufeffbom\n', 'astral 😀 $& \\1\n']) {
    await workspace().put('a.txt', text);
    expect(await read('a.txt')).toMatchObject({ success: true, content: text });
  }
});

// covers S1-20
test('returns a range, clamps its end, and takes whole numbers that are written as floats', async () => {
  await workspace().put('file.txt', lines(1, 20));
  expect(await read('/workspace/file.txt', { start_line: 1, end_line: 10 })).toMatchObject({ content: lines(1, 10) });
  expect(await read('file.txt', JSON.parse('{"start_line": 5.0, "end_line": 5.0}'))).toMatchObject({ content: 'L5\n' });
  expect(await read('file.txt', { start_line: 19, end_line: 99 })).toMatchObject({
    content: lines(19, 20),
    data: { start_line: 19, end_line: 20, total_lines: 20 },
  });
  expect(await read('file.txt', { end_line: 2 })).toMatchObject({ content: lines(1, 2) });
  await workspace().put('open.txt', 'a\nb');
  expect(await read('open.txt', { start_line: 2 })).toMatchObject({ content: 'b', data: { total_lines: 2 } });
});

// covers S1-20, S1-31
test('refuses ranges that a file cannot have, and names the parameter', async () => {
  await workspace().put('file.txt', lines(1, 20));
  for (const [range, error] of [
    [{ start_line: 0 }, 'start_line must be at least 1'],
    [{ start_line: -3 }, 'start_line'],
    [{ start_line: 5, end_line: 4 }, 'end_line 4 is before start_line 5'],
    [{ end_line: 0 }, 'end_line'],
    [{ start_line: 21 }, 'start_line 21 is beyond the end'],
    [{ start_line: 1.5 }, 'start_line'],
    [{ start_line: '1' }, 'start_line'],
    [{ lines: 1 }, 'lines'],
  ] as const) {
    expect(await read('file.txt', range)).toMatchObject({
      success: false,
      content: '',
      error: expect.stringContaining(error),
      metadata: { tool_name: 'read_file', parameters: { path: 'file.txt', ...range } },
    });
  }
});

// covers S1-31
test('refuses a call without a path, and names it', async () => {
  for (const args of [{}, { path: '' }, { path: 'a\0.txt' }, { path: 1 }]) {
    expect(await workspace().result('read_file', args)).toMatchObject({ error: expect.stringContaining('/path') });
  }
});

// covers S1-21
test('reads inside the allowed directories only, links resolved', async () => {
  await workspace().put('src/a.txt', 'in');
  await workspace().put('other/b.txt', 'out');
  await workspace().put('src2/c.txt', 'out');
  await symlink('../other/b.txt', join(workspace().path, 'src/link.txt'));
  await symlink('../../../../../../etc/hostname', join(workspace().path, 'src/host.txt'));
  const only = { directories: ['src'] };
  expect(await read('src/a.txt', {}, only)).toMatchObject({ content: 'in' });
  expect(await read('src/link.txt')).toMatchObject({ content: 'out' });
  for (const path of ['other/b.txt', 'src2/c.txt', 'src/link.txt', 'src/../other/b.txt']) {
    expect(await read(path, {}, only)).toMatchObject({ success: false, error: expect.stringContaining('allowed') });
  }
  for (const path of ['../x.txt', '/etc/hosts.conf', 'src/host.txt']) {
    expect(await read(path)).toMatchObject({ success: false, content: '' });
  }
});

// covers S1-22
test('reads files with a known extension, and a link by the name of its target', async () => {
  for (const name of ['A.TXT', '.gitignore', '.env', 'x.test.ts']) {
    await workspace().put(name, 'x');
    expect(await read(name)).toMatchObject({ success: true });
  }
  await workspace().put('a.exe', 'text');
  await workspace().put('Makefile', 'text');
  await symlink('a.exe', join(workspace().path, 'a.txt'));
  for (const path of ['a.exe', 'Makefile', 'a.txt']) {
    expect(await read(path)).toMatchObject({ success: false, error: expect.stringContaining('extension') });
  }
  expect(await read('a.exe', {}, { extensions: ['.exe'] })).toMatchObject({ content: 'text' });
});

// covers S1-23
test('refuses a file above the size limit', async () => {
  await workspace().put('big.txt', `${'0123456789abcde\n'.repeat(655_361)}`);
  expect(await read('big.txt')).toMatchObject({ success: false, error: expect.stringContaining('too large') });
  await workspace().put('small.txt', '123456');
  expect(await read('small.txt', {}, { max_file_bytes: 5 })).toMatchObject({ success: false });
  expect(await read('small.txt', {}, { max_file_bytes: 6 })).toMatchObject({ success: true });
});

// covers S1-24
test('refuses to return more lines than the limit, and returns a range of a longer file', async () => {
  await workspace().put('lines.txt', 'x\n'.repeat(10_002));
  expect(await read('lines.txt')).toMatchObject({ success: false, error: expect.stringContaining('10002 lines') });
  expect(await read('lines.txt', { start_line: 2, end_line: 10_001 })).toMatchObject({ success: true });
  expect(await read('lines.txt', { start_line: 2 })).toMatchObject({ success: false });
});

// covers S1-25
test('refuses what is not UTF-8', async () => {
  for (const bytes of [
    [0xff, 0xfe, 0],
    [0x61, 0xc3],
    [0x61, 0, 0x62],
  ]) {
    await workspace().put('bad.txt', Buffer.from(bytes));
    expect(await read('bad.txt')).toMatchObject({ success: false, error: expect.stringContaining('UTF-8') });
  }
});

test('a file that is not there, and a directory, are failures', async () => {
  await workspace().put('d.txt/in.txt', '');
  expect(await read('none.txt')).toMatchObject({ success: false, error: expect.stringContaining('none.txt') });
  expect(await read('d.txt')).toMatchObject({ success: false });
});
