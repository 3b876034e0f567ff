import { chmod, mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useWorkspace } from '../../testing/workspace.ts';
import { clemini } from './toolset.ts';

const workspace = useWorkspace(clemini);
const read = (file_path: unknown, more: object = {}) => workspace().result('read_file', { file_path, ...more });
const write = (file_path: unknown, content: unknown, more: object = {}) =>
  workspace().result('write_file', { file_path, content, ...more });
const only = (allowed_paths: string[]) => ({ settings: { allowed_paths } });
const failed = (error_code: string, error?: RegExp) => ({
  error_code,
  error: error === undefined ? expect.stringMatching(/./) : expect.stringMatching(error),
});
const text = async (path: string) => (await workspace().get(path)).toString();
const isThere = (path: string) =>
  stat(join(workspace().path, path)).then(
    () => true,
    () => false,
  );

// covers S3-01, S3-09, S3-20, C-05
// choices S3-A01, S3-A02
test('read_file numbers the lines that it returns', async () => {
  for (const [content, contents, total_lines] of [
    ['a\nb\n', '1: a\n2: b', 2],
    ['a\nb', '1: a\n2: b', 2],
    ['', '', 0],
    ['\n\n', '1: \n2: ', 2],
    ['a\r\nb\r\n', '1: a\r\n2: b\r', 2],
    ['\ufeffä\n日本 😀', '1: \ufeffä\n2: 日本 😀', 2],
  ] as const) {
    await workspace().put('a b.txt', content);
    expect(await read('a b.txt'), JSON.stringify(content)).toEqual({ contents, total_lines });
    expect(await read('/workspace/./a b.txt')).toEqual({ contents, total_lines });
  }
});

// covers S3-20, S3-24, S3-110
// choices S3-A02
test('read_file returns a part and says when there is more', async () => {
  await workspace().put('t', Array.from({ length: 3000 }, (_, index) => `l${index + 1}\n`).join(''));
  expect(await read('t', { offset: 2, limit: 2 })).toEqual({
    contents: '2: l2\n3: l3',
    total_lines: 3000,
    truncated: true,
  });
  expect(await read('t', { offset: 3000 })).toEqual({ contents: '3000: l3000', total_lines: 3000 });
  expect(await read('t', { limit: 0 })).toEqual({ contents: '', total_lines: 3000, truncated: true });
  const first = (await read('t')) as { contents: string };
  expect(first.contents.split('\n')).toHaveLength(2000);
  expect(await read('t', { offset: 3001 })).toMatchObject(failed('INVALID_ARGUMENT', /3000 lines.*smaller offset/));
  await workspace().put('long', `${'é'.repeat(300_000)}\nnext\n`);
  const long = (await read('long')) as { contents: string; truncated: boolean };
  expect(Buffer.byteLength(long.contents)).toBeLessThan(270_000);
  expect(long.contents).not.toContain('\ufffd');
  expect(long.truncated).toBe(true);
  await workspace().put('wide', `${'x'.repeat(200_000)}\n${'y'.repeat(200_000)}\n`);
  expect(await read('wide')).toEqual({ contents: `1: ${'x'.repeat(200_000)}`, total_lines: 2, truncated: true });
});

// covers S3-05, S3-06, S3-22, S3-23, S3-24, C-02, C-08, C-09
// choices S3-A03
test('read_file refuses what is no text file of the workspace', async () => {
  const path = workspace().path;
  await workspace().put('d/t', '1\n');
  await workspace().put('b.bin', Buffer.from([0, 1, 2]));
  await workspace().put('l1', Buffer.from('caf\xe9', 'latin1'));
  await symlink('/etc/hosts', join(path, 'out'));
  await symlink('t', join(path, 'd/in'));
  await symlink('loop', join(path, 'loop'));
  await writeFile(join(path, 'shut'), 'x');
  await chmod(join(path, 'shut'), 0);
  expect(await read('none.rs')).toEqual({
    error: 'File not found: none.rs. Check that the file exists or use glob to search.',
    error_code: 'NOT_FOUND',
    context: { reason: 'ENOENT' },
  });
  expect(await read('b.bin')).toMatchObject(failed('BINARY_FILE', /b\.bin is a binary file/));
  expect(await read('l1')).toMatchObject(failed('BINARY_FILE'));
  expect(await read('d')).toMatchObject(failed('INVALID_ARGUMENT'));
  expect(await read('d/t/x')).toMatchObject(failed('INVALID_ARGUMENT'));
  expect(await read('shut')).toMatchObject(failed('ACCESS_DENIED'));
  for (const outside of ['out', '/etc/passwd', '../x', '/workspace2/x', 'd/../../x']) {
    expect(await read(outside)).toMatchObject(
      failed('ACCESS_DENIED', /^Access denied: .* is outside allowed paths\. Use a path inside/),
    );
  }
  expect(await read('d/in')).toEqual({ contents: '1: 1', total_lines: 1 });
  for (const args of [
    {},
    { file_path: '' },
    { file_path: 'd/\0' },
    { file_path: 1 },
    { file_path: 'd/t', offset: 0 },
    { file_path: 'd/t', offset: '1' },
    { file_path: 'd/t', limit: -1 },
    { file_path: 'd/t', path: 'x' },
  ]) {
    expect(await workspace().result('read_file', args)).toMatchObject(failed('INVALID_ARGUMENT', /read_file/));
  }
});

// covers S3-05
test('allowed paths narrow what arguments may name, links resolved', async () => {
  const { result, put, path } = workspace();
  await put('src/a', 'x');
  await put('src2/a', 'x');
  await symlink('../src2/a', join(path, 'src/link'));
  const bound = only(['src', '/workspace/one']);
  expect(await result('read_file', { file_path: 'src/a' }, bound)).toMatchObject({ contents: '1: x' });
  for (const file_path of ['src2/a', 'src/link', 'src/../src2/a', 'a', '.']) {
    expect(await result('read_file', { file_path }, bound)).toEqual({
      error: `Access denied: ${file_path} is outside allowed paths. Stay in src, /workspace/one.`,
      error_code: 'ACCESS_DENIED',
      context: { reason: 'EPATHNOTALLOWED' },
    });
  }
  expect(await result('write_file', { file_path: 'src2/b', content: '' }, bound)).toMatchObject(
    failed('ACCESS_DENIED'),
  );
  expect(await isThere('src2/b')).toBe(false);
  expect(await result('write_file', { file_path: 'one', content: 'x' }, bound)).toMatchObject({ created: true });
  // The backup stands beside what may be changed, outside of what is allowed.
  const backed = { file_path: 'one', content: 'y', backup: true };
  expect(await result('write_file', backed, bound)).toMatchObject(failed('ACCESS_DENIED'));
  expect(await text('one')).toBe('x');
  const change = { file_path: 'src2/a', old_string: 'x', new_string: 'y' };
  expect(await result('edit', change, bound)).toMatchObject(failed('ACCESS_DENIED'));
  for (const tool of ['glob', 'grep']) {
    expect(await result(tool, { pattern: '*' }, bound)).toMatchObject(failed('ACCESS_DENIED', /: \. is outside/));
  }
  expect(await result('glob', { pattern: '*', directory: 'src' }, bound)).toMatchObject({ matches: ['src/a'] });
});

// covers S3-30, C-04
// choices S3-E1
test('write_file writes every byte and says what it did', async () => {
  expect(await write('d/e/new.txt', 'naïve\r\n')).toEqual({ success: true, bytes_written: 8, created: true });
  expect(await write('d/e/new.txt', '\ufeff$& $1 \\n')).toEqual({
    success: true,
    bytes_written: 11,
    overwritten: true,
  });
  expect(await text('d/e/new.txt')).toBe('\ufeff$& $1 \\n');
  expect(await write('d/e/new.txt', '')).toMatchObject({ bytes_written: 0, overwritten: true });
  expect(await isThere('d/e/new.txt.bak')).toBe(false);
  const large = 'x'.repeat(3_000_000);
  expect(await write('large', large)).toMatchObject({ bytes_written: 3_000_000, created: true });
});

// covers S3-31
test('write_file keeps the old content in a backup', async () => {
  expect(await write('a', 'one', { backup: true })).toEqual({ success: true, bytes_written: 3, created: true });
  expect(await isThere('a.bak')).toBe(false);
  expect(await write('a', 'two', { backup: true })).toEqual({
    success: true,
    bytes_written: 3,
    overwritten: true,
    backup_created: true,
  });
  expect(await text('a.bak')).toBe('one');
  await write('a', 'three', { backup: true });
  expect([await text('a'), await text('a.bak')]).toEqual(['three', 'two']);
  await workspace().put('b.bin', Buffer.from([0, 255, 1]));
  await write('b.bin', 'text', { backup: true });
  expect(await workspace().get('b.bin.bak')).toEqual(Buffer.from([0, 255, 1]));
});

// covers S3-05, S3-06, S3-31, C-02, C-03
test('write_file refuses and changes nothing', async () => {
  const { path, put, preview } = workspace();
  await put('f', 'old');
  await mkdir(join(path, 'd'));
  await mkdir(join(path, 'f2.bak'));
  await put('f2', 'old');
  await symlink('/etc', join(path, 'etc'));
  expect(await write('/etc/passwd', 'x')).toMatchObject(
    failed('ACCESS_DENIED', /^Access denied: \/etc\/passwd is outside allowed paths/),
  );
  expect(await write('etc/x', 'x')).toMatchObject(failed('ACCESS_DENIED'));
  expect(await write('.git/config', 'x')).toMatchObject(failed('ACCESS_DENIED'));
  expect(await write('d', 'x')).toMatchObject(failed('INVALID_ARGUMENT'));
  expect(await write('f/x', 'x')).toMatchObject(failed('INVALID_ARGUMENT'));
  // The backup cannot be made, so nothing is written.
  expect(await write('f2', 'new', { backup: true })).toMatchObject(failed('INVALID_ARGUMENT'));
  expect(await text('f2')).toBe('old');
  expect(await write('f', 'a\ud800b')).toMatchObject(failed('INVALID_ARGUMENT'));
  expect(await write('f', 'x', { backup: 'yes' })).toMatchObject(failed('INVALID_ARGUMENT'));
  expect(await workspace().result('write_file', { file_path: 'f' })).toMatchObject(failed('INVALID_ARGUMENT'));
  expect(await text('f')).toBe('old');
  expect(await preview('write_file', { file_path: 'f', content: 'new' })).toMatchObject({ kind: 'diff', path: 'f' });
});

// covers S3-05, S3-31
test('a backup is made where the tool may write, or nothing is written', async () => {
  await workspace().put('in/a.txt', 'old');
  await workspace().put('out/b.txt', 'kept');
  await symlink('../out/b.txt', join(workspace().path, 'in/a.txt.bak'));
  const args = { file_path: 'in/a.txt', content: 'new', backup: true };
  expect(await workspace().result('write_file', args, only(['in']))).toMatchObject(failed('ACCESS_DENIED'));
  expect([await text('in/a.txt'), await text('out/b.txt')]).toEqual(['old', 'kept']);
});

// covers S3-31
test('a file that is too large for a backup is not written', async () => {
  await workspace().put('big', Buffer.alloc(32 * 1024 * 1024 + 1));
  expect(await write('big', 'x', { backup: true })).toMatchObject(failed('IO_ERROR', /too many for a backup/));
  expect(await workspace().get('big')).toHaveLength(32 * 1024 * 1024 + 1);
});

test('a person who decides sees what write_file would write', async () => {
  await workspace().put('a.txt', 'old\n');
  const shown = await workspace().preview('write_file', { file_path: 'a.txt', content: 'new\n' });
  expect(shown).toMatchObject({ kind: 'diff', path: 'a.txt', patch: expect.stringContaining('+new') });
});
