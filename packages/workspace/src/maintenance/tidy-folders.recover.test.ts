import { existsSync, mkdirSync, readdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { rejects, test } from '../testing/fixture.ts';
import { git, readTree, runId, runUntilKilled, type Temporary, temporary, writeTree } from '../testing/index.ts';

async function manySnapshots(t: Temporary) {
  const { base, path } = await t.begin({ type: 'empty' });
  const trees: { id: string; tree: object }[] = [];
  let parent = base.id;
  for (let step = 0; step < 12; step++) {
    writeTree(path, { 'same.txt': 'same\n', [`d${step % 3}/f${step}`]: `${step}\n` });
    parent = (await t.workspaces.snapshot({ epoch: 1, runId, parent, message: String(step) })).id;
    trees.push({ id: parent, tree: readTree(path) });
  }
  return { path, trees, last: parent };
}

const packsIn = (t: Temporary) =>
  readdirSync(join(t.shadow(runId), 'objects/pack')).filter((name) => name.endsWith('.pack'));

test('a collection keeps every snapshot in one pack, and the run continues', async ({ t }) => {
  const { path, trees, last } = await manySnapshots(t);
  expect(packsIn(t).length).toBeGreaterThan(10);
  await t.workspaces.collect(runId);
  expect(packsIn(t)).toHaveLength(1);
  for (const { id, tree } of trees) {
    await t.workspaces.restore({ epoch: 1, runId, snapshot: id });
    expect(readTree(path)).toEqual(tree);
  }
  expect(git(t.shadow(runId), 'fsck', '--strict', '--no-dangling', '--full')).toBe('');
  // Content of an old snapshot: the writer must not assume that it is still stored.
  await t.workspaces.restore({ epoch: 1, runId, snapshot: last });
  writeTree(path, { more: '3\n' });
  const next = await t.workspaces.snapshot({ epoch: 1, runId, parent: last, message: 'more' });
  expect(git(t.shadow(runId), 'fsck', '--strict', '--no-dangling', '--full')).toBe('');
  expect((await t.workspaces.files({ runId, snapshot: next.id, path: 'more' })).length).toBe(1);
});

test('readers in another process survive a collection', async ({ t }) => {
  const { trees } = await manySnapshots(t);
  const reader = t.reopen();
  const reading = (async () => {
    for (let round = 0; round < 3; round++) {
      for (const { id } of trees) expect((await reader.files({ runId, snapshot: id })).length).toBeGreaterThan(0);
    }
  })();
  await t.workspaces.collect(runId);
  await reading;
});

test('sizes lists every run, the largest first', async ({ t }) => {
  await manySnapshots(t);
  await t.workspaces.materialise({ runId: 'run_large', source: { type: 'empty' } });
  writeFileSync(
    join((await t.workspaces.locate({ runId: 'run_large', epoch: 1 })).path, 'large'),
    Buffer.alloc(2_000_000, 1),
  );
  const [first, second] = await t.workspaces.sizes();
  expect(first).toMatchObject({ run_id: 'run_large', snapshots: 1 });
  expect(first?.tree_bytes).toBeGreaterThanOrEqual(2_000_000);
  expect(second).toMatchObject({ run_id: runId, snapshots: 13 });
  expect(second?.shadow_bytes).toBeGreaterThan(0);
});

test('leftovers of dead processes go; known and young folders stay', async () => {
  const now = Date.now();
  using t = temporary({ now: () => now });
  await t.workspaces.materialise({ runId, source: { type: 'empty' } });
  const folder = (name: string) => join(t.dataDir, name);
  for (const name of ['runs/run_orphan', 'runs/run_young', 'discarding/run_gone/tree'])
    mkdirSync(folder(name), { recursive: true });
  const old = new Date(now - 2 * 3_600_000);
  for (const name of [`runs/${runId}`, 'runs/run_orphan']) utimesSync(folder(name), old, old);
  const removed = await t.workspaces.tidy({ isKnown: async (id) => id === runId });
  expect(removed).toEqual(['run_orphan']);
  expect(existsSync(folder('discarding/run_gone'))).toBe(false);
  expect(readdirSync(folder('trash'))).toEqual([`run_orphan~${now}`]);
  expect(existsSync(folder('runs/run_young'))).toBe(true);
  await expect(t.workspaces.locate({ runId: runId, epoch: 1 })).resolves.toBeDefined();
});

test('the folder of an unknown run stays in the trash for a week', async () => {
  const start = Date.now();
  const clock = { now: start };
  using t = temporary({ now: () => clock.now });
  const source = t.source({ 'a.txt': 'a\n' });
  await t.workspaces.materialise({ runId, source: { type: 'directory', path: source } });
  const path = join(t.dataDir, 'runs', runId);
  const files = readTree((await t.workspaces.locate({ runId, epoch: 1 })).path);
  utimesSync(path, new Date(start - 2 * 3_600_000), new Date(start - 2 * 3_600_000));
  const tidy = () => t.workspaces.tidy({ isKnown: async () => false });
  expect(await tidy()).toEqual([runId]);
  expect(existsSync(path)).toBe(false);
  clock.now = start + 6 * 24 * 3_600_000;
  expect(await tidy()).toEqual([]);
  // A person moves the folder back.
  const [name = ''] = readdirSync(join(t.dataDir, 'trash'));
  renameSync(join(t.dataDir, 'trash', name), path);
  expect(readTree((await t.workspaces.locate({ runId, epoch: 1 })).path)).toEqual(files);
  renameSync(path, join(t.dataDir, 'trash', name));
  clock.now = start + 8 * 24 * 3_600_000;
  await tidy();
  expect(readdirSync(join(t.dataDir, 'trash'))).toEqual([]);
});

test('one bad folder does not stop the others; a publish is finished', async () => {
  const now = Date.now();
  using t = temporary({ now: () => now });
  const old = new Date(now - 2 * 3_600_000);
  const folder = (name: string) => join(t.dataDir, name);
  for (const name of ['runs/not a run', 'runs/run_broken', 'runs/run_half', 'git/tmp-dead', 'git/tmp-young']) {
    mkdirSync(folder(name), { recursive: true });
  }
  writeFileSync(folder('runs/run_broken/workspace.json'), 'not JSON');
  const source = t.source({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
  const base = await t.workspaces.materialise({ runId, source: { type: 'directory', path: source } });
  writeTree((await t.workspaces.locate({ runId: runId, epoch: 1 })).path, { 'a.txt': 'A\n', 'b.txt': 'B\n' });
  const { id } = await t.workspaces.snapshot({ epoch: 1, runId, parent: base.id, message: 'x' });
  const request = { runId, snapshot: id, target: { message: 'x' } };
  const { digest } = await t.workspaces.planPublish(request);
  const dying = t.reopen({
    onPoint: (point) => {
      if (point.startsWith('publish') && readTree(source)['a.txt'] === 'file A\n') throw new Error('dies half-way');
    },
  });
  await expect(dying.publish({ ...request, expect: digest })).rejects.toThrow('half-way');
  for (const name of ['runs/not a run', 'runs/run_broken', 'runs/run_half', `runs/${runId}`, 'git/tmp-dead']) {
    utimesSync(folder(name), old, old);
  }
  const removed = await t.reopen().tidy({ isKnown: async () => false });
  expect(removed.sort()).toEqual([runId, 'run_half']);
  expect(readTree(source)).toEqual({ 'a.txt': 'file A\n', 'b.txt': 'file B\n' });
  expect(
    ['runs/not a run', 'runs/run_broken', 'git/tmp-dead', 'git/tmp-young'].map((name) => existsSync(folder(name))),
  ).toEqual([true, true, false, true]);
});

test('nothing is removed when the known runs cannot be read', async () => {
  const now = Date.now();
  using t = temporary({ now: () => now });
  const path = join(t.dataDir, 'runs/run_orphan');
  mkdirSync(path);
  utimesSync(path, new Date(now - 2 * 3_600_000), new Date(now - 2 * 3_600_000));
  const asked = t.workspaces.tidy({ isKnown: () => Promise.reject(new Error('no connection')) });
  await expect(asked).rejects.toThrow('no connection');
  expect(existsSync(path)).toBe(true);
});

test('a large tree is removed in the background, and by maintenance when the process ended', async ({ t }) => {
  const { path } = await t.begin({ type: 'empty' });
  writeTree(path, Object.fromEntries(Array.from({ length: 6000 }, (_, n) => [`f${n % 10}/${n}`, ''])));
  await t.workspaces.discard(runId);
  await rejects(t.workspaces.locate({ runId, epoch: 1 }), 'EWORKSPACEMISSING');
  expect(existsSync(join(t.dataDir, 'runs', runId))).toBe(false);
  await t.workspaces.tidy({ isKnown: () => Promise.resolve(true) });
  expect(readdirSync(join(t.dataDir, 'discarding'))).toEqual([]);
});

test('a process that does nothing else waits until a large folder is gone', async ({ t }) => {
  const folder = join(t.dataDir, 'discarding', runId, 'trees/1');
  mkdirSync(folder, { recursive: true });
  for (let n = 0; n < 7000; n++) writeFileSync(join(folder, String(n)), '');
  // It fails with an exit code when it ends before.
  expect(runUntilKilled({ dataDir: t.dataDir, runId, dieAt: 0, act: { verb: 'tidy' } })).toBe(false);
  expect(existsSync(join(t.dataDir, 'discarding', runId))).toBe(false);
});
