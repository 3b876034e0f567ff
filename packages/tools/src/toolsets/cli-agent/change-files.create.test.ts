import { chmod, mkdir, readdir, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useWorkspace } from '../../testing/workspace.ts';
import { cliAgent } from './toolset.ts';

const workspace = useWorkspace(cliAgent);
const create = (args: object) => workspace().result('create_file', args);
const replace = (args: object) => workspace().result('replace_string_in_file', args);
const makeDirectory = (path: unknown) => workspace().result('create_directory', { path });
const text = async (path: string) => (await workspace().get(path)).toString();
const failed = (code: string, message?: string) => ({
  success: false,
  files_affected: [],
  ...(message !== undefined && { output: `Error: ${message}` }),
  error: { code, ...(message !== undefined && { message }), suggestion: expect.stringMatching(/./) },
});

// covers S0-03, S0-10, S0-13, S0-140
test('create_file writes a new file with its parents, byte for byte', async () => {
  expect(await create({ path: 'hello.py', content: "print('hi')\n" })).toEqual({
    success: true,
    output: 'Created file: hello.py (12 bytes)',
    files_affected: ['hello.py'],
    execution_time_ms: 7,
  });
  for (const [path, content, bytes] of [
    ['empty.txt', '', 0],
    ['a/b/c.txt', 'x', 1],
    ['/workspace/abs.txt', 'abs', 3],
    ['win\\dir.txt', 'one name', 8],
    ['späce 😀.txt', '\ufeffä\r\n😀 $& \\1', 17],
  ] as const) {
    expect(await create({ path, content })).toMatchObject({ output: `Created file: ${path} (${bytes} bytes)` });
    expect(await text(path.replace('/workspace/', ''))).toBe(content);
  }
});

// covers S0-02, S0-04, S0-11, S0-12, S0-15, S0-140
test('create_file refuses what the contract refuses, and changes nothing', async () => {
  await workspace().put('test.txt', 'old');
  await workspace().put('ro/keep.txt', '');
  await symlink('/etc', join(workspace().path, 'link'));
  const exists = "File 'test.txt' already exists. Use replace_string_in_file to modify";
  expect(await create({ path: 'test.txt', content: 'new' })).toMatchObject(failed('file_exists', exists));
  for (const path of ['../evil.txt', '/etc/evil.txt', 'link/evil.txt', 'a/../../evil.txt']) {
    const outside = `Path '${path}' is outside working directory`;
    expect(await create({ path, content: 'x' })).toMatchObject(failed('path_outside_working_dir', outside));
  }
  await chmod(join(workspace().path, 'ro'), 0o555);
  const denied = "Cannot create file 'ro/protected.txt' - permission denied";
  expect(await create({ path: 'ro/protected.txt', content: 'x' })).toMatchObject(failed('permission_denied', denied));
  await chmod(join(workspace().path, 'ro'), 0o755);
  expect(await create({ path: 'test.txt/below', content: 'x' })).toMatchObject(failed('not_a_directory'));
  expect(await create({ path: 'ro', content: 'x' })).toMatchObject({ success: false });
  for (const args of [{ path: 'x' }, { content: 'x' }, { path: 1, content: 'x' }, { path: '', content: '' }, {}]) {
    expect(await create(args)).toMatchObject(failed('invalid_parameters'));
  }
  expect(await create({ path: 'x', content: 'x', mode: 7 })).toMatchObject(failed('invalid_parameters'));
  expect(await create({ path: 'x', content: '\ud800' })).toMatchObject(failed('invalid_parameters'));
  expect((await readdir(workspace().path)).sort()).toEqual(['link', 'ro', 'test.txt']);
  expect(await text('test.txt')).toBe('old');
});

// covers S0-14
test('create_file takes ten mebibytes and not a byte more', async () => {
  expect(await create({ path: 'big.txt', content: 'a'.repeat(10_485_761) })).toMatchObject(failed('content_too_large'));
  expect(await create({ path: 'big.txt', content: 'a'.repeat(10_485_760) })).toMatchObject({ success: true });
  expect((await stat(join(workspace().path, 'big.txt'))).size).toBe(10_485_760);
});

// covers S0-30, S0-140
test('replace_string_in_file replaces one text literally and keeps every other byte', async () => {
  await workspace().put('hello.py', 'def f():\n  a = 1\n  b = 2\n  c = 3\n  x = old_text\n');
  expect(await replace({ path: 'hello.py', old_string: 'old_text', new_string: 'new' })).toMatchObject({
    success: true,
    output: 'Replaced 1 occurrence in hello.py',
    files_affected: ['hello.py'],
    metadata: { occurrences_found: 1, occurrences_replaced: 1, lines_changed: [5] },
  });
  for (const [before, old_string, new_string, after] of [
    ['x $1 (.*) \\n y\n', '$1 (.*) \\n', '$& $1 $$ \\', 'x $& $1 $$ \\ y\n'],
    ['zero\none\ntwo\nthree\n', 'one\ntwo', '', 'zero\n\nthree\n'],
    ['\ufeffa\r\nb\r\nc', 'b', '😀', '\ufeffa\r\n😀\r\nc'],
    ['same', 'same', 'same', 'same'],
  ] as const) {
    await workspace().put('a.txt', before);
    expect(await replace({ path: 'a.txt', old_string, new_string })).toMatchObject({ success: true });
    expect(await text('a.txt')).toBe(after);
  }
  await workspace().put('raw.bin', Buffer.from([0xff, 0x61, 0x00, 0xfe]));
  expect(await replace({ path: 'raw.bin', old_string: 'a', new_string: 'b' })).toMatchObject({ success: true });
  expect([...(await workspace().get('raw.bin'))]).toEqual([0xff, 0x62, 0x00, 0xfe]);
});

// covers S0-32
test('replace_string_in_file replaces the first of several, and warns', async () => {
  await workspace().put('a.txt', '1\n2\n3\n4\nfoo\nfoo\nfoo\n');
  expect(await replace({ path: 'a.txt', old_string: 'foo', new_string: 'bar' })).toMatchObject({
    success: true,
    output: 'Replaced 1 occurrence in a.txt\nWarning: Found 3 occurrences, replaced only the first at line 5',
    metadata: { occurrences_found: 3, occurrences_replaced: 1, lines_changed: [5] },
  });
  expect(await text('a.txt')).toBe('1\n2\n3\n4\nbar\nfoo\nfoo\n');
});

// covers S0-02, S0-11, S0-31, S0-33, S0-140
test('replace_string_in_file refuses what the contract refuses, and changes nothing', async () => {
  await workspace().put('a.txt', 'text\n');
  await mkdir(join(workspace().path, 'd'));
  const call = { path: 'a.txt', old_string: 'none', new_string: 'x' };
  expect(await replace(call)).toMatchObject(failed('string_not_found', "String 'none' not found in file"));
  const long = { ...call, old_string: 'y'.repeat(2000) };
  expect(await replace(long)).toMatchObject(failed('string_not_found'));
  expect(await replace({ ...call, old_string: '' })).toMatchObject(failed('invalid_parameters'));
  expect(await replace({ path: 'a.txt', old_string: 'text' })).toMatchObject(failed('invalid_parameters'));
  expect(await replace({ ...call, old_string: 7 })).toMatchObject(failed('invalid_parameters'));
  expect(await replace({ ...call, path: 'no.txt' })).toMatchObject(failed('file_not_found', "File 'no.txt' not found"));
  expect(await replace({ ...call, path: 'd' })).toMatchObject(failed('is_directory'));
  expect(await replace({ ...call, path: '../a.txt' })).toMatchObject(failed('path_outside_working_dir'));
  await workspace().result('run_in_terminal', { command: 'mkfifo pipe; head -c 10485761 /dev/zero > big.txt' });
  expect(await replace({ ...call, path: 'pipe' })).toMatchObject(failed('file_not_found'));
  expect(await replace({ ...call, path: 'big.txt' })).toMatchObject(failed('content_too_large'));
  expect(await text('a.txt')).toBe('text\n');
});

test('replacements at the same time are all made', async () => {
  await workspace().put('a.txt', '1 2 3 4 5\n');
  const results = await Promise.all(
    ['1', '2', '3', '4', '5'].map((old_string) =>
      replace({ path: 'a.txt', old_string, new_string: `<${old_string}>` }),
    ),
  );
  expect(results).toMatchObject(results.map(() => ({ success: true })));
  expect(await text('a.txt')).toBe('<1> <2> <3> <4> <5>\n');
});

// covers S0-90, S0-91, S0-140
test('create_directory makes the directory with its parents, once', async () => {
  expect(await makeDirectory('src/models')).toEqual({
    success: true,
    output: 'Created directory: src/models',
    files_affected: ['src/models'],
    metadata: { created_parents: ['src'] },
    execution_time_ms: 7,
  });
  for (const [path, parents] of [
    ['src/models', []],
    ['src/views', []],
    ['a/b/c', ['a', 'a/b']],
    ['/workspace/abs', []],
    ['with space/😀', ['with space']],
    ['.', []],
  ] as const) {
    expect(await makeDirectory(path)).toMatchObject({ success: true, metadata: { created_parents: parents } });
  }
  expect((await stat(join(workspace().path, 'with space/😀'))).isDirectory()).toBe(true);
});

// covers S0-02, S0-11, S0-92, S0-140
test('create_directory refuses what the contract refuses, and changes nothing', async () => {
  await workspace().put('test.txt', '');
  await workspace().put('ro/x', '');
  const file = "Path 'test.txt' exists as a file, cannot create directory";
  expect(await makeDirectory('test.txt')).toMatchObject(failed('path_is_file', file));
  expect(await makeDirectory('test.txt/below')).toMatchObject(failed('path_is_file'));
  expect(await makeDirectory('../out')).toMatchObject(failed('path_outside_working_dir'));
  expect(await makeDirectory('/etc/out')).toMatchObject(failed('path_outside_working_dir'));
  await chmod(join(workspace().path, 'ro'), 0o555);
  const denied = 'Cannot create directory - permission denied';
  expect(await makeDirectory('ro/new')).toMatchObject(failed('permission_denied', denied));
  await chmod(join(workspace().path, 'ro'), 0o755);
  for (const path of [undefined, '', 5, 'a\0b']) {
    expect(await makeDirectory(path)).toMatchObject(failed('invalid_parameters'));
  }
  expect((await readdir(workspace().path)).sort()).toEqual(['ro', 'test.txt']);
});

test('a person who decides sees what a call would change', async () => {
  await workspace().put('a.txt', 'old\n');
  expect(await workspace().preview('create_file', { path: 'new.txt', content: 'x\n' })).toMatchObject({ kind: 'diff' });
  expect(
    await workspace().preview('replace_string_in_file', { path: 'a.txt', old_string: 'old', new_string: 'new' }),
  ).toMatchObject({ kind: 'diff', patch: expect.stringContaining('+new') });
});

// covers S0-42, S0-92
test('a directory that the caller may not use is named as the contract names it', async () => {
  await workspace().put('shut/a.txt', 'a');
  await chmod(join(workspace().path, 'shut'), 0o000);
  for (const [tool, path, what] of [
    ['list_dir', 'shut', 'Cannot list directory'],
    ['create_directory', 'shut/d', 'Cannot create directory'],
    ['create_file', 'shut/f', "Cannot create file 'shut/f'"],
  ] as const) {
    const args = tool === 'create_file' ? { path, content: '' } : { path };
    expect(await workspace().result(tool, args)).toMatchObject({
      ...{ success: false, output: `Error: ${what} - permission denied`, error: { code: 'permission_denied' } },
    });
  }
  await chmod(join(workspace().path, 'shut'), 0o700);
});
