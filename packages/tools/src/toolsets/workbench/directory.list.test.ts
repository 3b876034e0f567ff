import { mkdir, symlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useWorkspace } from '../../testing/workspace.ts';
import type { ToolContext } from '../../tool.ts';
import { workbench } from './toolset.ts';

const workspace = useWorkspace(workbench);
const list = (args: object = {}) => workspace().result('list_directory', { path: '.', ...args });
const names = async (args?: object) =>
  ((await list(args)) as { value: { entries: { name: string }[] } }).value.entries.map(({ name }) => name);
const isRefused = (code: string) => ({ ok: false, error: { code, message: expect.any(String) } });

async function fill(): Promise<void> {
  await workspace().put('a.txt', '12345');
  await workspace().put('sub/b.txt', 'x');
  await workspace().put('.hidden', 'h');
  await workspace().put('sub/.h2', 'y');
  await workspace().put('.config/c.txt', 'z');
}

// covers S2-10, S2-11, S2-A02, C-10
test('an entry has name, type, size and time', async () => {
  await fill();
  await utimes(join(workspace().path, 'a.txt'), 1_700_000_000, 1_700_000_000.5);
  expect(await list()).toEqual({
    ok: true,
    value: {
      entries: [
        { name: 'a.txt', type: 'file', size: 5, modified: '2023-11-14T22:13:20.500Z' },
        { name: 'sub', type: 'directory', size: expect.any(Number), modified: expect.stringMatching(/^\d{4}-.*Z$/) },
      ],
    },
  });
});

// covers S2-11
test('hidden entries are listed when they are wanted', async () => {
  await fill();
  expect(await names({ includeHidden: true })).toEqual(['.config', '.hidden', 'a.txt', 'sub']);
  await workspace().put('.git/HEAD', 'the repository of the workspace');
  await workspace().put('sub/.git/HEAD', 'another one');
  expect(await names({ includeHidden: true })).toEqual(['.config', '.hidden', 'a.txt', 'sub']);
  expect(await names({ path: '/workspace/', includeHidden: true, recursive: true })).toEqual([
    ...['.config', '.config/c.txt', '.hidden', 'a.txt', 'sub', 'sub/.git', 'sub/.git/HEAD', 'sub/.h2', 'sub/b.txt'],
  ]);
});

// covers S2-12, S2-A01, S2-A02
test('a recursive list names paths below the directory', async () => {
  await fill();
  await workspace().put('sub/deep/.x/d.txt', 'd');
  expect(await names({ recursive: true })).toEqual(['a.txt', 'sub', 'sub/b.txt', 'sub/deep']);
  expect(await names({ path: 'sub', recursive: true })).toEqual(['b.txt', 'deep']);
  expect(await names({ path: 'sub', recursive: true, includeHidden: true })).toEqual([
    ...['.h2', 'b.txt', 'deep', 'deep/.x', 'deep/.x/d.txt'],
  ]);
});

// covers S2-13
test('links are listed and never followed', async () => {
  await workspace().put('d/in.txt', '1');
  await symlink('d', join(workspace().path, 'inside'));
  await symlink('/etc', join(workspace().path, 'outside'));
  await symlink('none', join(workspace().path, 'broken'));
  await symlink('.', join(workspace().path, 'd', 'loop'));
  expect(await names({ recursive: true })).toEqual(['broken', 'd', 'd/in.txt', 'd/loop', 'inside', 'outside']);
  expect(await list()).toMatchObject({
    value: { entries: [{ type: 'symlink' }, { type: 'directory' }, { type: 'symlink' }, { type: 'symlink' }] },
  });
});

// covers S2-10
test('an empty directory has no entries', async () => {
  await mkdir(join(workspace().path, 'e'));
  expect(await list({ path: 'e' })).toEqual({ ok: true, value: { entries: [] } });
});

// covers S2-60, C-02
test.each([
  ['none', 'FILE_NOT_FOUND'],
  ['', 'INVALID_PATH'],
  ['a\0b', 'INVALID_PATH'],
  ['..', 'INVALID_PATH'],
  ['sub/../../x', 'INVALID_PATH'],
  ['/', 'INVALID_PATH'],
  ['/etc', 'INVALID_PATH'],
  ['/workspace2', 'INVALID_PATH'],
  ['out', 'INVALID_PATH'],
  ['out/ssl', 'INVALID_PATH'],
  ['a.txt', 'NOT_A_DIRECTORY'],
  ['a.txt/b', 'NOT_A_DIRECTORY'],
  ['x'.repeat(300), 'INVALID_PATH'],
])('the path %j is %s', async (path, code) => {
  await fill();
  await symlink('/etc', join(workspace().path, 'out'));
  expect(await list({ path })).toMatchObject(isRefused(code));
});

// covers S2-66, C-09
test.each([[{}], [{ path: 1 }], [{ path: '.', recursive: 'yes' }], [{ path: '.', hidden: true }]])(
  'the arguments %j are invalid',
  async (args) => {
    expect(await workspace().result('list_directory', args)).toMatchObject(isRefused('INVALID_ARGS'));
  },
);

// covers S2-10, C-02
test('an absolute path of the workspace is one of its directories', async () => {
  await fill();
  expect(await names({ path: '/workspace/sub' })).toEqual(['b.txt']);
  expect(await names({ path: 'sub/../sub/.' })).toEqual(['b.txt']);
});

// covers S2-10, C-10
test('names are in byte order', async () => {
  for (const name of ['b', 'a', 'B', 'é', '€', '𝄞', 'Z z', 'q\'"$&']) await workspace().put(name, '');
  expect(await names()).toEqual(['B', 'Z z', 'a', 'b', 'q\'"$&', 'é', '€', '𝄞']);
});

// covers S2-10
test('a pipe is listed as a file', async () => {
  await workspace().result('run_code', { language: 'bash', code: 'mkfifo p' });
  expect(await list()).toMatchObject({ value: { entries: [{ name: 'p', type: 'file' }] } });
});

// covers S2-10
test('a list that was cut says how many entries there are', async () => {
  const entry = { name: 'a', type: 'file', bytes: 1, mtime_ms: 0 } as const;
  const totals = { file: 3, directory: 0, symlink: 0, other: 0 };
  const list = async () => ({ entries: [entry], total: 3, totals });
  const files = { list } as unknown as ToolContext['files'];
  expect(await workspace().result('list_directory', { path: '.' }, { files })).toMatchObject({
    value: { entries: [{ name: 'a', modified: '1970-01-01T00:00:00.000Z' }], total: 3 },
  });
});

// covers S2-10
test('no person is asked', async () => {
  expect(await workspace().asks('list_directory', { path: '.' })).toBeNull();
});
