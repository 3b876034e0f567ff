import { expect } from 'vitest';
import { rejects, test } from '../testing/fixture.ts';
import { readTree, runId, runUntilKilled, type Temporary, writeTree } from '../testing/index.ts';

async function start(t: Temporary) {
  const source = t.source({ 'a.txt': 'a\n', 'run.sh': { executable: 'x' }, link: { link: 'a.txt' } });
  const { base, path } = await t.begin(source);
  writeTree(path, { 'a.txt': 'changed\n', 'kept/b.txt': 'b\n' });
  const { id } = await t.workspaces.snapshot({ runId, epoch: 1, parent: base.id, message: 'x' });
  return { source, base: base.id, id, tree: readTree(path) };
}

test('a run without a tree can be read, compared, forked and published', async ({ t }) => {
  const { source, base, id } = await start(t);
  expect(await t.workspaces.hasTree(runId)).toBe(true);
  const [before] = await t.workspaces.sizes();
  await t.workspaces.dropTree({ runId, epoch: 2 });
  expect(await t.workspaces.hasTree(runId)).toBe(false);
  const [after] = await t.workspaces.sizes();
  expect(before?.tree_bytes).toBeGreaterThan(0);
  expect(after?.tree_bytes).toBeLessThan(before?.tree_bytes ?? 0);
  expect((await t.workspaces.diff({ runId, from: base, to: id })).files).toMatchObject([
    { path: 'a.txt' },
    { path: 'kept/b.txt' },
  ]);
  expect(await t.workspaces.files({ runId, snapshot: id })).toHaveLength(4);
  await t.workspaces.collect(runId);
  await t.workspaces.fork({ runId: 'run_2', from: { runId, snapshot: id } });
  expect(await t.publish({ snapshot: id })).toMatchObject({ status: 'published' });
  expect(readTree(source)['a.txt']).toBe('file changed\n');
});

test('a restore or take-over rebuilds the tree; older epochs stay stale', async ({ t }) => {
  const { base, id, tree } = await start(t);
  await t.workspaces.dropTree({ runId, epoch: 2 });
  for (const epoch of [1, 2]) {
    await rejects(t.workspaces.locate({ runId, epoch }), 'ELEASESTALE');
    await rejects(t.workspaces.takeOver({ runId, epoch, snapshot: id }), 'ELEASESTALE');
  }
  await rejects(t.workspaces.restore({ runId, epoch: 1, snapshot: id }), 'ELEASESTALE');
  await t.workspaces.restore({ runId, epoch: 2, snapshot: id });
  expect(readTree((await t.workspaces.locate({ runId, epoch: 2 })).path)).toEqual(tree);
  const next = await t.workspaces.snapshot({ runId, epoch: 2, parent: id, message: 'same' });
  expect(next.id).toBe(id);
  await t.workspaces.dropTree({ runId, epoch: 3 });
  await t.workspaces.takeOver({ runId, epoch: 4, snapshot: base });
  const { path } = await t.workspaces.locate({ runId, epoch: 4 });
  expect(readTree(path)['a.txt']).toBe('file a\n');
});

test('a drop killed at any point is finished by the next call', async ({ t }) => {
  const { id, tree } = await start(t);
  let epoch = 1;
  for (let dieAt = 1, isKilled = true; isKilled; dieAt++) {
    epoch += 1;
    isKilled = runUntilKilled({ dataDir: t.dataDir, runId, dieAt, act: { verb: 'drop_tree', epoch } });
    const again = t.reopen();
    epoch += 1;
    await again.dropTree({ runId, epoch });
    expect(await again.hasTree(runId)).toBe(false);
    await again.restore({ runId, epoch, snapshot: id });
    expect(readTree((await again.locate({ runId, epoch })).path)).toEqual(tree);
  }
  expect(epoch).toBeGreaterThan(5);
});
