import { appendFileSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Source } from '@holdpoint/contract';
import { expect } from 'vitest';
import { type FileTree, readTree, writeTree } from '../testing/file-tree.ts';
import { test } from '../testing/fixture.ts';
import { runId, type Temporary, temporary } from '../testing/index.ts';
import { git, initRepository } from '../testing/real-git.ts';

const target = { message: 'm' };

const files: FileTree = {
  '.gitignore': 'node_modules/\ndist/\n*.log\n',
  'src/a.ts': 'one\n',
  'src/kept.log': 'tracked, though ignored\n',
};

/** A run on a source with `files` that makes other files. */
async function run(t: Temporary, made: FileTree, given: Partial<Source> & { type: 'git' | 'directory' }) {
  const path = join(t.path, 'source');
  if (!existsSync(path)) {
    writeTree(path, files);
    if (given.type === 'git') {
      initRepository(path);
      git(path, 'add', '-f', 'src/kept.log');
      git(path, 'commit', '-q', '--amend', '--no-edit');
    }
  }
  const source = { ...given, path } as Source;
  const { base, path: tree } = await t.begin(source);
  writeTree(tree, made);
  const { id } = await t.snapshot(base.id);
  return { base: base.id, id, source: path, tree };
}

const made: FileTree = {
  'src/a.ts': 'two\n',
  'src/kept.log': 'changed\n',
  'src/debug.log': 'noise\n',
  'node_modules/left-pad/index.js': 'pad\n',
  'node_modules/left-pad/.gitignore': '!*\n',
  'dist/out.js': 'out\n',
};
const leftOut = [
  { path: 'dist/', reason: 'ignored', files: 1, bytes: 4 },
  { path: 'node_modules/', reason: 'ignored', files: 2, bytes: 7 },
  { path: 'src/debug.log', reason: 'ignored', files: 1, bytes: 6 },
];
const published = ['src/a.ts', 'src/kept.log'];

test('ignored files are in no diff, patch, plan or commit, and listed as left out', async ({ t }) => {
  const { base, id, source } = await run(t, made, { type: 'git' });

  const diff = await t.workspaces.diff({ runId, from: base, to: id });
  expect(diff.files.map(({ path }) => path)).toEqual(published);
  expect(diff.left_out).toEqual(leftOut);
  const patch = String(await t.workspaces.patch({ runId, from: base, to: id }));
  expect(patch.match(/^diff --git .*/gm)).toEqual(published.map((path) => `diff --git a/${path} b/${path}`));
  expect(await t.workspaces.diff({ runId, from: base, to: id, path: 'dist' })).toEqual({
    files: [],
    left_out: [leftOut[0]],
  });

  const plan = await t.workspaces.planPublish({ runId, snapshot: id, target });
  expect(plan.files.map(({ path }) => path)).toEqual(published);
  expect(plan.left_out).toEqual(leftOut);
  expect(plan.candidate).toBe(id);
  expect(await t.publish({ snapshot: id })).toMatchObject({
    status: 'published',
    published: { left_out: leftOut },
  });
  const changed = git(source, 'diff', '--name-only', 'main', `holdpoint/${runId}`).split('\n');
  expect(changed).toEqual(published);

  // A repeated publish answers the same.
  expect(await t.publish({ snapshot: id })).toMatchObject({ published: { left_out: leftOut } });
  const all = (await t.workspaces.files({ runId, snapshot: id })).map(({ path }) => path);
  expect(all).toContain('node_modules/left-pad/index.js');
  expect(readdirSync(join(t.dataDir, 'git'))).toEqual([]);
});

test('include_ignored publishes ignored files, also after a publish without', async ({ t }) => {
  const { base, id, source } = await run(t, made, { type: 'git' });
  expect(await t.publish({ snapshot: id })).toMatchObject({ status: 'published' });
  const diff = await t.workspaces.diff({ runId, from: base, to: id, includeIgnored: true });
  expect(diff).toMatchObject({ left_out: [] });
  expect(diff.files).toHaveLength(6);
  const all = await t.publish({ snapshot: id, include_ignored: true });
  expect(all).toMatchObject({ status: 'published', published: { left_out: [] } });
  const changed = git(source, 'diff', '--name-only', 'main', `holdpoint/${runId}`).split('\n');
  expect(changed).toEqual([
    ...['dist/out.js', 'node_modules/left-pad/.gitignore', 'node_modules/left-pad/index.js', 'src/a.ts'],
    ...['src/debug.log', 'src/kept.log'],
  ]);
  expect(git(source, 'rev-list', '--count', `main..holdpoint/${runId}`)).toBe('2');
});

test('a diff of two steps leaves out ignored files that are added or changed', async ({ t }) => {
  const { id, tree } = await run(t, made, { type: 'git' });
  writeTree(tree, { 'src/a.ts': 'three\n', 'dist/out.js': 'other\n' });
  const next = await t.snapshot(id);
  const { files: changed, left_out } = await t.workspaces.diff({ runId, from: id, to: next.id });
  expect(changed.map(({ path }) => path)).toEqual(['src/a.ts']);
  expect(left_out).toEqual([{ path: 'dist/', reason: 'ignored', files: 1, bytes: 6 }]);
  await t.workspaces.restore({ runId, epoch: 1, snapshot: id });
  expect(readTree(tree)['dist/out.js']).toBe('file out\n');
});

test('info/exclude and the .gitignore files of the run apply', async ({ t }) => {
  const path = t.source(files, 'git');
  appendFileSync(join(path, '.git/info/exclude'), '/notes\n');
  const rules = { '.gitignore': '*.tmp\n!dist/\n', notes: 'private\n', 'a.tmp': 'x\n', 'dist/out.js': 'out\n' };
  const { base, id } = await run(t, rules, { type: 'git' });
  const { files: changed, left_out } = await t.workspaces.diff({ runId, from: base, to: id });
  expect(changed.map((file) => file.path)).toEqual(['.gitignore', 'dist/out.js']);
  expect(left_out.map((one) => [one.path, one.reason])).toEqual([
    ['a.tmp', 'ignored'],
    ['notes', 'ignored'],
  ]);
});

test.for(['git', 'directory'] as const)(
  'files outside include and exclude do not reach a %s source',
  async (type, { t }) => {
    const outside = { 'src/a.ts': 'two\n', 'build/x/1': '1\n', 'build/2': '2\n', 'src/secret': 's\n' };
    const { base, id, source } = await run(t, outside, { type, include: ['src'], exclude: ['secret'] });
    const expected = [
      { path: 'build/', reason: 'excluded', files: 2, bytes: 4 },
      { path: 'src/secret', reason: 'excluded', files: 1, bytes: 2 },
    ];
    const diff = await t.workspaces.diff({ runId, from: base, to: id });
    expect(diff.files.map(({ path }) => path)).toEqual(['src/a.ts']);
    expect(diff.left_out).toEqual(expected);
    expect(await t.publish({ snapshot: id })).toMatchObject({
      status: 'published',
      published: { left_out: expected },
    });
    if (type === 'git') {
      expect(git(source, 'diff', '--name-only', 'main', `holdpoint/${runId}`)).toBe('src/a.ts');
    } else {
      expect(Object.keys(readTree(source)).sort()).toEqual(['.gitignore', 'src', 'src/a.ts', 'src/kept.log']);
    }
  },
);

test('a .gitignore outside include still applies', async ({ t }) => {
  const { base, id } = await run(t, { 'src/dist/x': 'x\n', 'src/b.ts': 'b\n' }, { type: 'git', include: ['src'] });
  const { files: changed, left_out } = await t.workspaces.diff({ runId, from: base, to: id });
  expect(changed.map(({ path }) => path)).toEqual(['src/b.ts']);
  expect(left_out).toEqual([{ path: 'src/dist/', reason: 'ignored', files: 1, bytes: 2 }]);
});

test('a directory source has no ignore rules, even inside a repository', async ({ t }) => {
  t.source(files, 'git');
  const { id, source } = await run(t, { 'dist/out.js': 'out\n' }, { type: 'directory' });
  expect(await t.publish({ snapshot: id })).toMatchObject({
    published: { files_written: 1, left_out: [] },
  });
  expect(readTree(source, { ignore: ['.git'] })['dist/out.js']).toBe('file out\n');
});

test('a long list of left out files is summed up at its end', async ({ t }) => {
  const logs = Object.fromEntries(
    Array.from({ length: 230 }, (_, n) => [`src/${String(n).padStart(3, '0')}.log`, 'x']),
  );
  const { base, id } = await run(t, { ...logs, 'src/a.ts': 'two\n' }, { type: 'git' });
  const { left_out } = await t.workspaces.diff({ runId, from: base, to: id });
  expect(left_out).toHaveLength(201);
  expect(left_out[0]).toEqual({ path: 'src/000.log', reason: 'ignored', files: 1, bytes: 1 });
  expect(left_out.at(-1)).toEqual({ path: null, reason: 'ignored', files: 30, bytes: 30 });
});

test('a file that grows too large is left out by name and changes the digest', async () => {
  using t = temporary({ limits: { fileBytes: 1000 } });
  const { base, id, tree } = await run(t, { 'src/a.ts': 'x'.repeat(2000), 'src/b.ts': 'b\n' }, { type: 'git' });
  const modified_at = expect.stringMatching(/^20.*Z$/);
  const large = { path: 'src/a.ts', reason: 'too_large', files: 1, bytes: 2000, modified_at };
  expect((await t.workspaces.diff({ runId, from: base, to: id })).left_out).toEqual([large]);
  const plan = await t.workspaces.planPublish({ runId, snapshot: id, target });
  expect(plan.left_out).toEqual([large]);
  writeFileSync(join(tree, 'src/a.ts'), 'y'.repeat(2000));
  const other = await t.snapshot(id);
  expect(other).toMatchObject({ files_changed: 0 });
  const again = await t.workspaces.planPublish({ runId, snapshot: other.id, target });
  expect(again.left_out).toEqual([large]);
  expect(again.digest).not.toBe(plan.digest);
});

test('an unchanged file that was always too large is not listed as left out', async () => {
  using t = temporary({ limits: { fileBytes: 1000 } });
  writeTree(join(t.path, 'source'), { ...files, big: 'x'.repeat(2000) });
  const { base, id } = await run(t, { 'src/a.ts': 'two\n' }, { type: 'directory' });
  expect((await t.workspaces.diff({ runId, from: base, to: id })).left_out).toEqual([]);
  expect(await t.publish({ snapshot: id })).toMatchObject({ published: { left_out: [] } });
});
