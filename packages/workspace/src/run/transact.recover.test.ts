import { expect } from 'vitest';
import { test } from '../testing/fixture.ts';
import { readTree, runId, runUntilKilled, type Temporary, writeTree } from '../testing/index.ts';
import { transact } from './transact.ts';

async function start(t: Temporary) {
  const { base, path } = await t.begin({ type: 'empty' });
  writeTree(path, { 'a.txt': 'a\n', 'b.txt': 'b\n' });
  const { id } = await t.workspaces.snapshot({ epoch: 1, runId, parent: base.id, message: 'before' });
  const quieted: string[] = [];
  const deps = { workspaces: t.workspaces, killAll: async (id: string) => void quieted.push(id) };
  const change = () => writeTree(path, { 'a.txt': 'changed\n', 'c/new.txt': 'new\n' });
  return { path, id, deps, change, quieted, before: readTree(path) };
}

test('a successful batch is one snapshot', async ({ t }) => {
  const { id, deps, change, quieted } = await start(t);
  const done = await transact(deps, {
    epoch: 1,
    ...{ runId, parent: id, message: 'batch' },
    act: async () => {
      change();
      return { ok: true, value: 2 };
    },
  });
  expect(done).toMatchObject({ status: 'committed', value: 2, snapshot: { parent: id, files_changed: 2 } });
  expect(quieted).toEqual([runId]);
});

test('files that validators write are removed', async ({ t }) => {
  const { id, deps, change, path } = await start(t);
  let validated: object = {};
  const done = await transact(deps, {
    epoch: 1,
    ...{ runId, parent: id, message: 'batch' },
    act: async () => {
      change();
      return { ok: true, value: 2 };
    },
    validate: async () => {
      validated = readTree(path);
      writeTree(path, { 'coverage/report': 'x', 'a.txt': 'formatted' });
      return undefined;
    },
  });
  if (done.status !== 'committed') throw new Error(done.reason);
  expect(readTree(path)).toEqual(validated);
  const again = await t.workspaces.snapshot({ epoch: 1, runId, parent: done.snapshot.id, message: '' });
  expect(again.id).toBe(done.snapshot.id);
  expect(done.snapshot.files_changed).toBe(2);
});

test.for([
  ['a call fails', { ok: false, reason: 'no' }, undefined, 'no'],
  ['a validator rejects', { ok: true, value: 1 }, 'types do not fit', 'types do not fit'],
] as const)('when %s the batch is rolled back', async ([_, answer, refusal, reason], { t }) => {
  const { id, deps, change, before, path } = await start(t);
  const act = async () => {
    change();
    return answer;
  };
  const done = await transact<number>(deps, {
    runId,
    epoch: 1,
    parent: id,
    message: 'x',
    act,
    validate: async () => refusal,
  });
  expect(done).toEqual({ status: 'rolled_back', reason });
  expect(readTree(path)).toEqual(before);
});

test('a throw or an abort rolls back and is passed on', async ({ t }) => {
  const { id, deps, change, before, path } = await start(t);
  const throwing = transact(deps, {
    epoch: 1,
    ...{ runId, parent: id, message: 'x' },
    act: async () => {
      change();
      throw new Error('broken');
    },
  });
  await expect(throwing).rejects.toThrow('broken');
  expect(readTree(path)).toEqual(before);
  const giveUp = new AbortController();
  const aborted = transact(deps, {
    epoch: 1,
    ...{ runId, parent: id, message: 'x', signal: giveUp.signal },
    act: async () => {
      change();
      giveUp.abort(new Error('given up'));
      return { ok: true, value: 1 };
    },
  });
  await expect(aborted).rejects.toThrow('given up');
  expect(readTree(path)).toEqual(before);
});

test('after a kill at any point a restore returns to the parent', async ({ t }) => {
  const { id, before, path } = await start(t);
  const act = { verb: 'transact', parent: id, files: { 'a.txt': 'changed', 'c/new.txt': 'new' } };
  let killed = 0;
  for (let dieAt = 1; runUntilKilled({ dataDir: t.dataDir, runId, dieAt, act }); dieAt++) {
    killed += 1;
    expect(readTree(path)).not.toEqual(before);
    await t.reopen().restore({ epoch: 1, runId, snapshot: id });
    expect(readTree(path)).toEqual(before);
  }
  expect(killed).toBe(5);
  expect(readTree(path)).toMatchObject({ 'a.txt': 'file changed', 'c/new.txt': 'file new', 'b.txt': before['b.txt'] });
});
