import { appendFileSync, chmodSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { rejects, test } from '../testing/fixture.ts';
import { git, owner, readTree, runUntilKilled, stride, type Temporary, writeTree } from '../testing/index.ts';
import { entryFolder } from './entry.ts';

const key = 'a'.repeat(64);
const other = 'b'.repeat(64);
const place = { tenant: 'default', key };
const [first, second] = ['run_first', 'run_second'];
const files = { 'package.json': '{}\n', 'src/a.js': 'a\n', 'old.txt': 'old\n' };

/** A run whose `prepare` has made `node_modules`, and another one that has just begun. */
async function start(t: Temporary, more: object = {}) {
  const source = t.source(files);
  const begun = await t.begin(source, first);
  const folder = join(begun.path, 'node_modules');
  writeTree(begun.path, {
    'node_modules/dep/index.js': 'dep\n',
    'node_modules/dep/cli.js': { executable: '#!/bin/sh\n' },
    'node_modules/empty': null,
    ...more,
  });
  symlinkSync('../dep/cli.js', join(folder, 'dep', 'link'));
  chmodSync(join(folder, 'dep'), 0o750);
  chmodSync(join(folder, 'dep', 'index.js'), 0o600);
  const { id: to } = await t.snapshot(begun.id, first);
  const next = await t.begin(source, second);
  return { source, from: begun.id, to, made: readTree(begun.path), parent: next.id, path: next.path };
}

const keep = (t: Temporary, { from, to }: { from: string; to: string }, more: object = {}) =>
  t.workspaces.keepPrepared({ runId: first, ...place, from, to, ...more });
const apply = (t: Temporary, { parent }: { parent: string }, more: object = {}) =>
  t.workspaces.applyPrepared({ runId: second, epoch: 1, ...place, parent, ...more });

test('another run of the tenant gets exactly the files that prepare made', async ({ t }) => {
  const at = await start(t);
  expect(await apply(t, at)).toBeUndefined();
  expect(await keep(t, at)).toBe(true);
  const taken = await apply(t, at);
  expect(taken).toMatchObject({ parent: at.parent, files_changed: 3, skipped: [] });
  expect(readTree(at.path)).toEqual(at.made);
  // The tree is that snapshot to the byte, permissions included.
  expect(await t.snapshot(taken?.id ?? '', second)).toMatchObject({ id: taken?.id, files_changed: 0 });
  expect(git(t.shadow(second), 'fsck', '--strict', '--no-dangling')).toBe('');
  // The entry may go: the run has its own names of the objects.
  rmSync(entryFolder(t.dataDir, place), { recursive: true });
  await t.workspaces.discard(first);
  await t.workspaces.takeOver({ runId: second, epoch: 2, snapshot: taken?.id ?? '' });
  expect(readTree((await t.workspaces.locate({ runId: second, epoch: 2 })).path)).toEqual(at.made);
});

test('folders with more files than one thread writes come to their places, with names and permissions as they were', async ({
  t,
}) => {
  const names = Array.from({ length: 400 }, (_, index) => `file ${index}.js`);
  const many = Object.fromEntries(names.map((name) => [`packages/a/node_modules/b/${name}`, `${name}\n`]));
  const source = t.source({ ...files, 'packages/a/package.json': '{}\n' });
  const begun = await t.begin(source, first);
  writeTree(begun.path, {
    ...many,
    'packages/a/node_modules/.bin/b': { executable: 'b\n' },
    'new/below/large': 'x'.repeat(2e6),
  });
  symlinkSync('b/file 1.js', join(begun.path, 'packages/a/node_modules/link'));
  chmodSync(join(begun.path, 'packages/a/node_modules'), 0o700);
  const { id: to } = await t.snapshot(begun.id, first);
  await keep(t, { from: begun.id, to });
  const next = await t.begin(source, second);
  // A link at the place of a new folder is no way out of the tree.
  symlinkSync(t.path, join(next.path, 'new'));
  const taken = await apply(t, { parent: next.id });
  expect(readTree(next.path)).toEqual(readTree(begun.path));
  expect(statSync(join(next.path, 'packages/a/node_modules')).mode & 0o777).toBe(0o700);
  expect(statSync(join(next.path, 'packages/a/node_modules/b/file 1.js'))).toMatchObject(owner);
  expect(await t.snapshot(taken?.id ?? '', second)).toMatchObject({ id: taken?.id, files_changed: 0 });
  expect(readdirSync(join(t.dataDir, 'making'))).toEqual([]);
});

test('another tenant, another key and a protected path get nothing', async ({ t }) => {
  const at = await start(t);
  await keep(t, at);
  expect(await apply(t, at, { tenant: 'b' })).toBeUndefined();
  expect(await apply(t, at, { key: other })).toBeUndefined();
  await rejects(apply(t, at, { key: '../../etc' }), 'EWORKSPACECORRUPT');
  const forbids = (path: string) => path.startsWith('node_modules/dep/cli');
  await expect(apply(t, at, { forbids })).rejects.toMatchObject({ paths: ['node_modules/dep/cli.js'] });
  expect(readTree(at.path)).toEqual({
    'package.json': 'file {}\n',
    src: 'folder',
    'src/a.js': 'file a\n',
    'old.txt': 'file old\n',
  });
});

test('an entry fits the same files alone, unless the operator names the inputs', async ({ t }) => {
  const at = await start(t, { 'dist/out.js': 'built of a\n', 'package.json': '{"changed":1}\n' });
  await keep(t, at);
  const changed = async (run: string, tree: Record<string, string>) => {
    const { id, path } = await t.begin(at.source, run);
    writeTree(path, tree);
    return { parent: (await t.snapshot(id, run)).id, path };
  };
  const edited = await changed('run_edited', { 'src/a.js': 'b\n' });
  expect(await apply(t, edited, { runId: 'run_edited' })).toBeUndefined();
  // It does not fit, so the run keeps its own.
  expect((await t.workspaces.prepared()).entries).toBe(0);

  const open = t.reopen({ preparedInputs: ['package.json'] });
  await open.keepPrepared({ runId: first, ...place, from: at.from, to: at.to });
  const taken = await apply(t, edited, { runId: 'run_edited' });
  expect(taken).toMatchObject({
    files_changed: 5,
    made_from: { run_id: first, bound_to: 'inputs', source: at.source },
  });
  expect(readTree(edited.path)).toEqual({ ...at.made, 'src/a.js': 'file b\n' });
  const clashing = await changed('run_clashing', { 'package.json': '{"other":1}\n' });
  expect(await apply(t, clashing, { runId: 'run_clashing' })).toBeUndefined();
});

test('a removed file is removed, and another file at its place is never overwritten', async ({ t }) => {
  const { source } = { source: t.source(files) };
  const begun = await t.begin(source, first);
  rmSync(join(begun.path, 'old.txt'));
  const { id: to } = await t.snapshot(begun.id, first);
  await keep(t, { from: begun.id, to });
  const next = await t.begin(source, second);
  expect(await apply(t, { parent: next.id })).toMatchObject({ files_changed: 1 });
  expect(readTree(next.path)).toEqual({ 'package.json': 'file {}\n', src: 'folder', 'src/a.js': 'file a\n' });
});

test.for(['entry.json', 'pack', 'idx'])(
  'an entry with a damaged %s is set aside and made again',
  async (part, { t }) => {
    const at = await start(t);
    await keep(t, at);
    const folder = entryFolder(t.dataDir, place);
    const name = readdirSync(folder).find((one) => one.endsWith(part)) ?? '';
    appendFileSync(join(folder, name), 'x');
    expect(await apply(t, at)).toBeUndefined();
    expect(readdirSync(join(folder, '..'))).toEqual([]);
    expect(readdirSync(join(t.dataDir, 'trash'))).toEqual([expect.stringMatching(/^prepared-/)]);
    await keep(t, at);
    expect(await apply(t, at)).toMatchObject({ files_changed: 3 });
    expect(readTree(at.path)).toEqual(at.made);
  },
);

test('the first of two workers with the same key wins, and unused entries go first', async ({ t }) => {
  const at = await start(t);
  const others = [t.workspaces, t.reopen(), t.reopen()];
  const kept = others.map((workspaces) =>
    workspaces.keepPrepared({ runId: first, ...place, from: at.from, to: at.to }),
  );
  expect(await Promise.all(kept)).toEqual([true, true, true]);
  const { entries, bytes } = await t.workspaces.prepared();
  expect(entries).toBe(1);
  const tight = t.reopen({ limits: { preparedBytes: bytes + 10 }, now: () => 1_700_000_100_000 });
  await tight.keepPrepared({ runId: first, ...place, key: other, from: at.from, to: at.to });
  expect(await tight.prepared()).toMatchObject({ entries: 1 });
  expect(await apply(t, at)).toBeUndefined();
  expect(await apply(t, at, { key: other })).toBeDefined();
  const none = t.reopen({ limits: { preparedBytes: 0 } });
  expect(await none.keepPrepared({ runId: first, ...place, from: at.from, to: at.to })).toBe(false);
});

test('keeping and applying, killed at any point, leave a whole entry or none', async ({ t }) => {
  const at = await start(t);
  const kept = { verb: 'keep_prepared', ...place, from: at.from, to: at.to };
  for (let dieAt = 1; runUntilKilled({ dataDir: t.dataDir, runId: first, dieAt, act: kept }); dieAt += 1) {
    const { entries } = await t.workspaces.prepared();
    expect(entries).toBe(dieAt === 1 ? 0 : 1);
    rmSync(entryFolder(t.dataDir, place), { recursive: true, force: true });
  }
  await t.workspaces.removeAbandonedBuilds();
  expect(readdirSync(join(t.dataDir, 'making'))).toEqual([]);
  await keep(t, at);
  let epoch = 1;
  const applied = () => ({ verb: 'apply_prepared', ...place, epoch, parent: at.parent });
  for (let dieAt = 1; runUntilKilled({ dataDir: t.dataDir, runId: second, dieAt, act: applied() }); dieAt += stride) {
    epoch += 1;
    const again = t.reopen();
    await again.takeOver({ runId: second, epoch, snapshot: at.parent });
    await again.applyPrepared({ runId: second, epoch, ...place, parent: at.parent });
    expect(readTree((await again.locate({ runId: second, epoch })).path)).toEqual(at.made);
    epoch += 1;
    await again.takeOver({ runId: second, epoch, snapshot: at.parent });
  }
  expect(epoch).toBeGreaterThan(1);
});

test('all files, the source and its ref decide, unless the operator names inputs', async ({ t }) => {
  const committed = { 'node_modules/x/package.json': '1', 'packages/b/package-lock.json': '1' };
  const path = t.source({ ...files, ...committed }, 'git');
  git(path, 'branch', 'other');
  const begun = await t.begin({ type: 'git', path }, first);
  const other = await t.begin({ type: 'git', path, ref: 'other' }, second);
  const open = t.reopen({ preparedInputs: ['package.json', 'package-lock.json'] });
  const digests = async (tree: Record<string, string>, globs?: string[]) => {
    writeTree(begun.path, tree);
    const input = { runId: first, snapshot: (await t.snapshot(begun.id, first)).id, globs };
    return { whole: await t.workspaces.inputDigest(input), named: await open.inputDigest(input) };
  };
  const before = await digests({});
  // The same commit by another name.
  const there = { runId: second, snapshot: other.id };
  expect(await t.workspaces.inputDigest(there)).not.toBe(before.whole);
  expect(await open.inputDigest(there)).toBe(before.named);

  const edited = await digests({ 'src/a.js': 'c' });
  expect(edited.whole).not.toBe(before.whole);
  expect(edited.named).toBe(before.named);
  const [named] = [await digests({}, ['src/**'])];
  expect((await digests({ 'src/a.js': 'd' }, ['src/**'])).named).not.toBe(named?.named);
  const locked = await digests({ 'packages/b/package-lock.json': '2' });
  expect(locked.named).not.toBe(edited.named);
  const installed = await digests({ 'node_modules/x/package.json': '2' });
  expect(installed.named).not.toBe(locked.named);
  await rejects(digests({}, ['../x']), 'EGLOBINVALID');
});

test.for([
  ['a script of its own', { 'package.json': '{"scripts":{"postinstall":"node scripts/post.js"}}' }],
  ['a script of a package below', { 'packages/b/package.json': '{"scripts":{"prepare":"tsc"}}' }],
  ['a folder of its own as a dependency', { 'package.json': '{"dependencies":{"b":"file:./b"}}' }],
  ['a manifest that cannot be read', { 'package.json': '{' }],
  ['a native module', { 'binding.gyp': '{}' }],
  ['a setup program', { 'setup.py': 'import scripts.post' }],
] as const)('with %s, every file decides, whatever the operator names', async ([, more], { t }) => {
  const source = t.source({ ...files, ...more, 'scripts/post.js': 'one' });
  const open = t.reopen({ preparedInputs: ['package.json'] });
  const begun = await t.begin(source, first);
  const before = await open.inputDigest({ runId: first, snapshot: begun.id });
  writeTree(begun.path, { 'scripts/post.js': 'two' });
  const { id } = await t.snapshot(begun.id, first);
  expect(await open.inputDigest({ runId: first, snapshot: id })).not.toBe(before);
});

test.for(['git', 'directory'] as const)('a publish to a %s brings the change of the run alone', async (type, { t }) => {
  const path = t.source(files, type);
  const begun = await t.begin(type === 'git' ? { type, path } : path);
  writeTree(begun.path, {
    'node_modules/dep/index.js': 'dep\n',
    'package.json': '{"by":"prepare"}\n',
    'made.txt': 'm\n',
  });
  rmSync(join(begun.path, 'old.txt'));
  const { id: prepared } = await t.snapshot(begun.id);
  await t.workspaces.markPrepared({ runId: 'run_1', snapshot: prepared });
  writeTree(begun.path, { 'src/a.js': 'repaired\n', 'node_modules/dep/more.js': 'x\n', 'made.txt': 'by the run\n' });
  const { id: snapshot } = await t.snapshot(prepared);
  const diff = await t.workspaces.diff({ runId: 'run_1', from: prepared, to: snapshot });
  expect(diff.files.map((file) => file.path)).toEqual(['made.txt', 'src/a.js']);
  const plan = await t.workspaces.planPublish({ runId: 'run_1', snapshot, target: { message: 'm' } });
  expect(plan.files.map((file) => [file.path, file.status])).toEqual([
    ['made.txt', 'added'],
    ['src/a.js', 'modified'],
  ]);
  expect(plan.left_out.map(({ path: at, reason }) => [at, reason])).toEqual([
    ['node_modules/', 'prepared'],
    ['old.txt', 'prepared'],
    ['package.json', 'prepared'],
  ]);
  expect(await t.publish({ snapshot })).toMatchObject({ status: 'published' });
  const fork = await t.workspaces.fork({ runId: 'run_fork', from: { runId: 'run_1', snapshot } });
  expect(fork).toMatchObject({ base: prepared, prepared: true });
  const early = await t.workspaces.fork({ runId: 'run_early', from: { runId: 'run_1', snapshot: begun.id } });
  expect(early).toMatchObject({ base: begun.id, prepared: false });
  if (type === 'git') {
    expect(git(path, 'show', '--stat=200', '--format=', 'holdpoint/run_1')).toMatch(
      /made\.txt.*\n.*src\/a\.js.*\n 2 files/,
    );
  } else {
    expect(readTree(path)).toEqual({
      ...{ 'package.json': 'file {}\n', src: 'folder', 'src/a.js': 'file repaired\n', 'old.txt': 'file old\n' },
      'made.txt': 'file by the run\n',
    });
  }
});
