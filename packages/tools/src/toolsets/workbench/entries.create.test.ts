import { mkdir, readdir, readlink, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useWorkspace } from '../../testing/workspace.ts';
import type { ToolContext } from '../../tool.ts';
import { workbench } from './toolset.ts';

const workspace = useWorkspace(workbench);
const inTree = (path: string) => join(workspace().path, path);
/** Links are listed and not followed, which a recursive `readdir` does. */
async function tree(path = ''): Promise<string[]> {
  const found = await readdir(inTree(path), { withFileTypes: true });
  const below = found.map(async (entry) => {
    const name = join(path, entry.name);
    return entry.isDirectory() ? [name, ...(await tree(name))] : [name];
  });
  return (await Promise.all(below)).flat().sort();
}
const remove = (args: object) => workspace().result('delete_file', args, { approved: true });
const move = (args: object, approved = false) => workspace().result('move_file', args, { approved });
const asksToMove = (args: object) => workspace().asks('move_file', args);
const isRefused = (code: string) => ({ ok: false, error: { code, message: expect.any(String) } });

// covers S2-40
test('a person is always asked before a deletion', () => {
  expect(workbench.tools.find(({ name }) => name === 'delete_file')?.asks).toBe(true);
});

// covers S2-40
test('a file is deleted', async () => {
  await workspace().put('d/a.txt', 'x');
  expect(await remove({ path: './d/a.txt' })).toEqual({ ok: true, value: { deleted: ['d/a.txt'] } });
  expect(await tree()).toEqual(['d']);
});

// covers S2-41, S2-A09
test('a directory with content needs recursive', async () => {
  await workspace().put('d/a', '1');
  await workspace().put('d/e/b', '2');
  await workspace().put('k', '3');
  expect(await remove({ path: 'd' })).toMatchObject(isRefused('DIRECTORY_NOT_EMPTY'));
  expect(await tree()).toEqual(['d', 'd/a', 'd/e', 'd/e/b', 'k']);
  expect(await remove({ path: 'd', recursive: true })).toEqual({
    ok: true,
    value: { deleted: ['d', 'd/a', 'd/e', 'd/e/b'] },
  });
  expect(await tree()).toEqual(['k']);
});

// covers S2-41, S2-A09
test('an empty directory is deleted without recursive', async () => {
  await mkdir(inTree('e'));
  expect(await remove({ path: 'e' })).toEqual({ ok: true, value: { deleted: ['e'] } });
});

// covers S2-42
test.each(['.', './', '/workspace', 'd/..'])('the root as %j is not deleted', async (path) => {
  await workspace().put('d/a', '1');
  expect(await remove({ path, recursive: true })).toMatchObject(isRefused('INVALID_PATH'));
  expect(await tree()).toEqual(['d', 'd/a']);
});

// covers S2-43, S2-A06
test('a link is deleted, and never its target', async () => {
  await workspace().put('d/a', '1');
  await symlink('d', inTree('inside'));
  await symlink('/etc/passwd', inTree('outside'));
  await symlink('none', inTree('broken'));
  for (const path of ['inside', 'outside', 'broken']) {
    expect(await remove({ path, recursive: true })).toEqual({ ok: true, value: { deleted: [path] } });
  }
  expect(await tree()).toEqual(['d', 'd/a']);
});

// covers S2-43
test('links below a deleted directory are not followed', async () => {
  await workspace().put('keep/a', '1');
  await workspace().put('d/a', '1');
  await symlink('../keep', inTree('d/inside'));
  await symlink('/etc', inTree('d/outside'));
  expect(await remove({ path: 'd', recursive: true })).toEqual({
    ok: true,
    value: { deleted: ['d', 'd/a', 'd/inside', 'd/outside'] },
  });
  expect(await tree()).toEqual(['keep', 'keep/a']);
});

// covers S2-60, C-02, C-03
test.each([
  ['none', 'FILE_NOT_FOUND'],
  ['', 'INVALID_PATH'],
  ['a\0', 'INVALID_PATH'],
  ['../x', 'INVALID_PATH'],
  ['/etc/passwd', 'INVALID_PATH'],
  ['/workspace2/a', 'INVALID_PATH'],
  ['out/passwd', 'INVALID_PATH'],
  ['a/b', 'NOT_A_DIRECTORY'],
])('deleting %j is %s', async (path, code) => {
  await workspace().put('a', '1');
  await symlink('/etc', inTree('out'));
  expect(await remove({ path, recursive: true })).toMatchObject(isRefused(code));
  expect(await tree()).toEqual(['a', 'out']);
});

// covers S2-40
test('a long list of deletions is cut and counted', async () => {
  const files = { remove: async () => ({ removed: ['a'], total: 3 }) } as unknown as ToolContext['files'];
  expect(await workspace().result('delete_file', { path: 'a', recursive: true }, { files })).toEqual({
    ok: true,
    value: { deleted: ['a'], total: 3 },
  });
});

// covers S2-50, C-04
test('a file keeps its bytes when it is moved', async () => {
  const data = Buffer.from([0, 255, 13, 10, 0xef, 0xbb, 0xbf]);
  await workspace().put('a', data);
  await workspace().put('d/c', '');
  expect(await asksToMove({ from: 'a', to: 'd/b' })).toBeNull();
  expect(await move({ from: './a', to: 'd/b' })).toEqual({ ok: true, value: { from: 'a', to: 'd/b' } });
  expect(await tree()).toEqual(['d', 'd/b', 'd/c']);
  expect(await workspace().get('d/b')).toEqual(data);
});

// covers S2-50
test('a directory and a link are moved as they are', async () => {
  await workspace().put('d/e/a', '1');
  await workspace().result('run_code', { language: 'bash', code: 'ln -s /etc link' });
  expect(await move({ from: 'd', to: 'f' })).toMatchObject({ ok: true });
  expect(await move({ from: 'link', to: 'moved' })).toMatchObject({ ok: true });
  expect(await tree()).toEqual(['f', 'f/e', 'f/e/a', 'moved']);
  expect(await readlink(inTree('moved'))).toBe('/etc');
});

// covers S2-51, C-03
test('an existing target is refused without overwrite, and asks no person', async () => {
  await workspace().put('a', '1');
  await workspace().put('b', '2');
  expect(await asksToMove({ from: 'a', to: 'b' })).toBeNull();
  expect(await move({ from: 'a', to: 'b' }, true)).toMatchObject(isRefused('ALREADY_EXISTS'));
  expect([String(await workspace().get('a')), String(await workspace().get('b'))]).toEqual(['1', '2']);
});

// covers S2-50, S2-51
test('overwriting asks a person', async () => {
  await workspace().put('a', '1');
  await workspace().put('b', '2');
  await symlink('none', inTree('dangling'));
  expect(await asksToMove({ from: 'a', to: './b', overwrite: true })).toBe('b exists and would be replaced');
  expect(await asksToMove({ from: 'a', to: 'dangling', overwrite: true })).toContain('dangling exists');
  expect(await asksToMove({ from: 'a', to: 'new', overwrite: true })).toBeNull();
  expect(await asksToMove({ from: 'none', to: 'b', overwrite: true })).toBeNull();
  expect(await asksToMove({ from: 'a', to: '../b', overwrite: true })).toBeNull();
  expect(await move({ from: 'a', to: 'b', overwrite: true }, true)).toEqual({
    ok: true,
    value: { from: 'a', to: 'b' },
  });
  expect(await tree()).toEqual(['b', 'dangling']);
  expect(String(await workspace().get('b'))).toBe('1');
});

// covers S2-51, S2-73, C-03
test('a target that appears after the look is not replaced', async () => {
  await workspace().put('a', '1');
  await workspace().put('b', '2');
  expect(await move({ from: 'a', to: 'b', overwrite: true })).toMatchObject(isRefused('ALREADY_EXISTS'));
  expect([String(await workspace().get('a')), String(await workspace().get('b'))]).toEqual(['1', '2']);
});

// covers S2-60, C-02, C-03
test.each([
  ['none', 'b', 'FILE_NOT_FOUND'],
  ['a', 'none/b', 'FILE_NOT_FOUND'],
  ['', 'b', 'INVALID_PATH'],
  ['a', '', 'INVALID_PATH'],
  ['a', 'b\0', 'INVALID_PATH'],
  ['.', 'b', 'INVALID_PATH'],
  ['../a', 'b', 'INVALID_PATH'],
  ['a', '../b', 'INVALID_PATH'],
  ['a', '/workspace2/b', 'INVALID_PATH'],
  ['a', 'out/b', 'INVALID_PATH'],
  ['out/passwd', 'b', 'INVALID_PATH'],
  ['a', 'a/b', 'NOT_A_DIRECTORY'],
  ['d', 'd/e', 'INVALID_PATH'],
  ['a', '.git/config', 'PERMISSION_DENIED'],
])('moving %j to %j is %s', async (from, to, code) => {
  await workspace().put('a', '1');
  await mkdir(inTree('d'));
  await symlink('/etc', inTree('out'));
  const before = await tree();
  expect(await move({ from, to })).toMatchObject(isRefused(code));
  expect(await tree()).toEqual(before);
});

// covers S2-66, C-09
test.each([
  ['delete_file', {}],
  ['delete_file', { path: 'a', recursive: 1 }],
  ['delete_file', { path: 'a', force: true }],
  ['move_file', { from: 'a' }],
  ['move_file', { from: 'a', to: 1 }],
  ['move_file', { from: 'a', to: 'b', overwrite: 'yes' }],
])('%s refuses %j', async (tool, args) => {
  expect(await workspace().result(tool, args)).toMatchObject(isRefused('INVALID_ARGS'));
});
