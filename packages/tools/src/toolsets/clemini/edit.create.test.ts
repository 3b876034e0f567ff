import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useWorkspace } from '../../testing/workspace.ts';
import { clemini } from './toolset.ts';

const workspace = useWorkspace(clemini);
const edit = (file_path: string, old_string: string | undefined, new_string: string, more: object = {}) =>
  workspace().result('edit', { file_path, old_string, new_string, ...more });
const text = async (path: string) => (await workspace().get(path)).toString();
const failed = (error_code: string, error = /./) => ({ error_code, error: expect.stringMatching(error) });

// covers S3-40, S3-41, C-04
test('edit replaces a text and leaves every other byte', async () => {
  await workspace().put('a', '\ufeffone\r\ntwo $& three');
  expect(await edit('a', 'two', '$1 \\ $&')).toEqual({ success: true, replacements: 1, file_size: 24 });
  expect(await text('a')).toBe('\ufeffone\r\n$1 \\ $& $& three');
  await workspace().put('b', 'aaaaa');
  expect(await edit('b', 'aa', 'b', { replace_all: true })).toEqual({ success: true, replacements: 2, file_size: 3 });
  expect(await text('b')).toBe('bba');
  expect(await edit('b', 'bba', '')).toEqual({ success: true, replacements: 1, file_size: 0 });
  await workspace().put('latin', Buffer.from('x caf\xe9 y', 'latin1'));
  expect(await edit('latin', 'y', 'z')).toMatchObject({ replacements: 1 });
  expect(await workspace().get('latin')).toEqual(Buffer.from('x caf\xe9 z', 'latin1'));
});

// covers S3-42, S3-45
// choices S3-E2
test('edit makes a file that does not exist when it may', async () => {
  expect(await edit('d/new.rs', undefined, 'pub fn init() {}', { create_if_not_exists: true })).toEqual({
    success: true,
    replacements: 0,
    file_size: 16,
    created: true,
  });
  expect(await text('d/new.rs')).toBe('pub fn init() {}');
  expect(await edit('d/new.rs', '', 'x', { create_if_not_exists: true })).toMatchObject(
    failed('INVALID_ARGUMENT', /d\/new\.rs exists, so old_string is needed/),
  );
  expect(await edit('d/new.rs', 'init', 'start', { create_if_not_exists: true })).toMatchObject({ replacements: 1 });
  expect(await edit('d/other', 'init', 'start', { create_if_not_exists: true })).toMatchObject({ created: true });
});

// covers S3-43
test('edit shows the lines of a text that is not unique', async () => {
  await workspace().put('a', 'let x = 5;\nlet y = 1;\r\nlet x = foo();\n');
  expect(await edit('a', 'let ', 'var ')).toEqual({
    error: 'String matches 3 locations. Provide more context. Or set replace_all to change all of them.',
    error_code: 'NOT_UNIQUE',
    suggestions: ['let x = 5;', 'let y = 1;', 'let x = foo();'],
    context: { reason: 'EMULTIPLE', locations: 3, lines: [1, 2, 3] },
  });
  await workspace().put('many', 'same\n'.repeat(500));
  const refused = (await edit('many', 'same', 'x')) as { error: string; suggestions: string[] };
  expect(refused.error).toMatch(/^String matches 500 locations/);
  expect(refused.suggestions).toHaveLength(10);
  await workspace().put('within', 'aaa');
  expect(await edit('within', 'aa', 'b')).toMatchObject(failed('NOT_UNIQUE', /matches 2 locations/));
  expect(await text('within')).toBe('aaa');
});

// covers S3-44
test('edit shows a line similar to a missing text', async () => {
  await workspace().put('a', 'function start() {\n\treturn value + 1;\n}\n');
  expect(await edit('a', '  return value + 1;', 'x')).toMatchObject({
    error: 'String not found in file. Only whitespace differs: repeat the call with the whitespace of the file.',
    error_code: 'NOT_FOUND',
    suggestions: ['\treturn value + 1;'],
    context: { lines: [2] },
  });
  expect(await edit('a', 'return valu + 2', 'x')).toMatchObject({ suggestions: ['\treturn value + 1;'] });
  expect(await edit('a', 'zzzz', 'x')).toMatchObject({ error_code: 'NOT_FOUND', suggestions: [] });
  await workspace().put('long', `${'x'.repeat(5000)}\n`);
  const { suggestions } = (await edit('long', `${'x'.repeat(300)} y`, 'z')) as { suggestions: string[] };
  expect(suggestions.join('').length).toBeLessThan(300);
});

// covers S3-05, S3-06, S3-23, S3-45, C-02, C-03, C-09
test('edit refuses what it cannot do', async () => {
  await workspace().put('a', 'x');
  await workspace().put('b.bin', Buffer.from([0, 120]));
  await symlink('/etc/hosts', join(workspace().path, 'out'));
  expect(await edit('none', 'a', 'b')).toMatchObject(failed('NOT_FOUND', /^File not found: none\./));
  expect(await edit('a', 'x', 'x')).toMatchObject(failed('INVALID_ARGUMENT', /nothing would change/));
  expect(await edit('a', undefined, 'y')).toMatchObject(failed('INVALID_ARGUMENT', /old_string/));
  expect(await edit('a', '', 'y')).toMatchObject(failed('INVALID_ARGUMENT', /old_string/));
  expect(await edit('b.bin', 'x', 'y')).toMatchObject(failed('BINARY_FILE'));
  expect(await edit('out', 'localhost', 'y')).toMatchObject(failed('ACCESS_DENIED'));
  expect(await edit('.', 'x', 'y')).toMatchObject(failed('INVALID_ARGUMENT'));
  expect(await edit('.git/x', undefined, 'y', { create_if_not_exists: true })).toMatchObject(failed('ACCESS_DENIED'));
  expect(await edit('a', 'x', 'y', { replaceAll: true })).toMatchObject(failed('INVALID_ARGUMENT', /replaceAll/));
  expect(await edit('a', 'x', 'y', { replace_all: 'true' })).toMatchObject(failed('INVALID_ARGUMENT'));
  expect(await text('a')).toBe('x');
});

// covers S3-40, S3-42
test('a person sees what edit would change', async () => {
  const { preview, put } = workspace();
  await put('a', 'one\n');
  const change = { file_path: 'a', old_string: 'one', new_string: 'two' };
  expect(await preview('edit', change)).toMatchObject({ kind: 'diff', patch: expect.stringMatching(/-one\n\+two/) });
  const made = { file_path: 'n', new_string: 'two', create_if_not_exists: true };
  expect(await preview('edit', made)).toMatchObject({ kind: 'diff', patch: expect.stringMatching(/\+two/) });
  expect(await preview('edit', { ...change, old_string: 'none' })).toMatchObject({ kind: 'problem' });
});
