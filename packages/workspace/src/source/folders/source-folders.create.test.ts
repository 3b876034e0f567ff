import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Source } from '@holdpoint/contract';
import { expect } from 'vitest';
import { test } from '../../testing/fixture.ts';
import { git, runId, type Temporary, writeTree } from '../../testing/index.ts';

const files = { '.gitignore': 'node_modules/\n', 'src/add.js': 'one\n', 'packages/a/index.js': 'a\n' };
const installed = ['node_modules', 'packages/a/node_modules'];

/** A source with two folders that are no part of its files. */
function sourceOf(t: Temporary, type: 'git' | 'directory'): { path: string; source: Source } {
  const path = t.source(files, 'git');
  for (const folder of installed) writeTree(join(path, folder), { 'pkg/index.js': 'module.exports = 1;\n' });
  return { path, source: { type, path, with: installed } };
}

const locate = (t: Temporary, run = runId, epoch = 1) => t.workspaces.locate({ runId: run, epoch });

test.for(['git', 'directory'] as const)(
  'a run of a %s source has the places, and not the files',
  async (type, { t }) => {
    const { path, source } = sourceOf(t, type);
    await t.workspaces.check(source);
    const { base, path: tree } = await t.begin(source);
    for (const folder of installed) {
      expect(readdirSync(join(tree, folder))).toEqual([]);
      expect(lstatSync(join(tree, folder)).uid).toBe(lstatSync(tree).uid);
    }
    const { sourceFolders } = await locate(t);
    expect(sourceFolders.map((one) => [one.path, one.host])).toEqual(
      installed.map((folder) => [folder, join(path, folder)]),
    );
    const listed = await t.workspaces.files({ runId, snapshot: base.id });
    expect(listed.map((file) => file.path).filter((name) => name.includes('pkg'))).toEqual([]);
    expect(await t.snapshot(base.id)).toMatchObject({ id: base.id, files_changed: 0 });
    expect(git(tree, 'status', '--porcelain')).toBe('');
  },
);

test('a fork, a take-over and an undo have them again', async ({ t }) => {
  const { source } = sourceOf(t, 'git');
  const { base, path: tree } = await t.begin(source);
  writeFileSync(join(tree, 'src/add.js'), 'two\n');
  const { id } = await t.snapshot(base.id);
  await t.workspaces.fork({ runId: 'run_2', from: { runId, snapshot: id } });
  const before = (await locate(t)).sourceFolders;
  expect((await locate(t, 'run_2')).sourceFolders).toEqual(before);
  await t.workspaces.takeOver({ runId, epoch: 2, snapshot: id });
  expect((await locate(t, runId, 2)).sourceFolders).toEqual(before);
  await t.workspaces.restore({ runId, epoch: 2, snapshot: base.id });
  expect((await locate(t, runId, 2)).sourceFolders).toEqual(before);
  expect(await t.workspaces.snapshot({ runId, epoch: 2, parent: base.id, message: '' })).toMatchObject({ id: base.id });
});

test.for(['git', 'directory'] as const)('a publish to a %s source leaves its folders alone', async (type, { t }) => {
  const { path, source } = sourceOf(t, type);
  const { base, path: tree } = await t.begin(source);
  writeFileSync(join(tree, 'src/add.js'), 'two\n');
  const { id } = await t.snapshot(base.id);
  const before = installed.map((folder) => lstatSync(join(path, folder, 'pkg/index.js'), { bigint: true }));
  expect((await t.workspaces.diff({ runId, from: base.id, to: id })).files.map((file) => file.path)).toEqual([
    'src/add.js',
  ]);
  expect(await t.publish({ snapshot: id })).toMatchObject({ status: 'published', published: { left_out: [] } });
  const after = installed.map((folder) => lstatSync(join(path, folder, 'pkg/index.js'), { bigint: true }));
  expect(after).toEqual(before);
});

test('a replaced folder is another folder, and a lost folder is an error until its return', async ({ t }) => {
  const { path, source } = sourceOf(t, 'git');
  await t.begin(source);
  const [first] = (await locate(t)).sourceFolders;
  rmSync(join(path, 'node_modules'), { recursive: true });
  await expect(locate(t)).rejects.toMatchObject({
    ...{ code: 'ESOURCEFOLDERLOST', retryable: false },
    message: expect.stringContaining(`node_modules does not exist in ${path}`),
  });
  mkdirSync(join(path, 'node_modules'));
  const [second] = (await locate(t)).sourceFolders;
  expect(second).toMatchObject({ path: 'node_modules' });
  expect(second?.identity).not.toBe(first?.identity);
  renameSync(join(path, 'packages/a'), join(path, 'packages/b'));
  await expect(locate(t)).rejects.toMatchObject({ code: 'ESOURCEFOLDERLOST' });
});

test('a place that the run moved away or filled shows nothing', async ({ t }) => {
  const { source } = sourceOf(t, 'git');
  const { path: tree } = await t.begin(source);
  const shown = async () => (await locate(t)).sourceFolders.map((one) => one.path);
  renameSync(join(tree, 'packages/a'), join(tree, 'packages/b'));
  expect(await shown()).toEqual(['node_modules']);
  writeTree(join(tree, 'packages/a/node_modules'), { 'own.js': 'x\n' });
  expect(await shown()).toEqual(['node_modules']);
  expect(existsSync(join(tree, 'packages/a/node_modules/own.js'))).toBe(true);
});

test('a submodule can be shown, and parents that the run does not have are made', async ({ t }) => {
  const { path } = sourceOf(t, 'git');
  writeTree(path, { 'tools/cache/x.js': 'x\n' });
  git(path, 'update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},sub`);
  git(path, 'commit', '-qm', 'submodule');
  writeTree(path, { 'sub/a.c': 'a\n' });
  await t.begin({ type: 'git', path, with: ['sub', 'tools/cache'] });
  expect((await locate(t)).sourceFolders.map((one) => one.path)).toEqual(['sub', 'tools/cache']);
});
