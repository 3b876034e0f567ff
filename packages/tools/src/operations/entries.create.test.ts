import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { useWorkspace } from '../testing/workspace.ts';
import { findFiles } from './find-files.ts';
import { listDirectory } from './list-directory.ts';
import { makeDirectory } from './make-directory.ts';
import { movePath } from './move-path.ts';
import { readBytes } from './read-bytes.ts';
import { removePath } from './remove-path.ts';
import { runCode } from './run-code.ts';

const workspace = useWorkspace();

test('directories, moves and removals tell which paths they touched', async () => {
  const { context, path, put } = workspace();
  const tools = context();
  expect(await makeDirectory(tools, { path: 'a/b' })).toEqual({ created: ['a', 'a/b'], touched: ['a', 'a/b'] });
  await put('f', 'one');
  const moved = await movePath(tools, { from: './f', to: '/workspace/a/b/g', replace: false });
  expect(moved).toMatchObject({ from: 'f', to: 'a/b/g', touched: ['f', 'a/b/g'] });
  expect(await movePath(tools, { from: 'a', to: 'c', replace: false })).not.toHaveProperty('touched');
  expect(await removePath(tools, { path: 'c/b/g', recursive: true })).toMatchObject({ touched: ['c/b/g'] });
  const removed = await removePath(tools, { path: 'c', recursive: true });
  expect(removed).toEqual({ removed: ['c', 'c/b'], total: 2 });
  expect(await readdir(path)).toEqual([]);
});

test('files are listed, found and read with their facts', async () => {
  const { context, put } = workspace();
  await put('src/a.ts', 'one');
  await put('src/.git/config', 'x');
  await put('src/deep/b.ts', Buffer.from([1, 0, 2]));
  const tools = context();
  const { entries, totals } = await listDirectory(tools, { path: 'src', recursive: true, hidden: false });
  expect(entries.map(({ name }) => name)).toEqual(['a.ts', 'deep', 'deep/b.ts']);
  expect(totals).toMatchObject({ file: 2, directory: 1 });
  const found = await findFiles(tools, { pattern: '**/*.ts', directory: '/workspace/src', sort: 'largest', dot: true });
  expect(found).toMatchObject({ total: 2, files: [{ path: 'src/a.ts', bytes: 3 }, { path: 'src/deep/b.ts' }] });
  expect((await findFiles(tools, { pattern: '**', dot: true })).total).toBe(2);
  expect(await readBytes(tools, { path: 'src/deep/b.ts', offset: 1, max_bytes: 3 })).toMatchObject({
    data: Buffer.from([0, 2]),
    bytes: 3,
    binary: true,
  });
});

test('code of any size runs with its arguments and an empty input', async () => {
  const { context, path } = workspace();
  const code = `# ${'x'.repeat(300_000)}\necho "$1|$2|$(cat)" && printf '%s' "$VALUE" >&2; exit 7`;
  const { end, stdout, stderr } = await runCode(context(), {
    program: ['/bin/bash', '--norc'],
    code,
    args: ['one two', '$(id)'],
    env: { VALUE: '*' },
  });
  expect([end, stdout.text, stderr.text]).toEqual([
    { status: 'exited', exit_code: 7, signal: null },
    'one two|$(id)|\n',
    '*',
  ]);
  expect(await readdir(path)).toEqual([]);
});
