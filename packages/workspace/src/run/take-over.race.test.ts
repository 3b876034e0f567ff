import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { readTree, writeTree } from '../testing/file-tree.ts';
import { test } from '../testing/fixture.ts';
import {
  freezeAt,
  isLayered,
  runId,
  runUntilKilled,
  stride,
  type Temporary,
  temporary,
  tried,
} from '../testing/index.ts';
import { git } from '../testing/real-git.ts';

const source = { 'a.txt': 'a\n', 'lib/b.txt': 'b\n', 'lib/empty': null, run: { executable: '#!/bin/sh\n' } };

/** A run with two snapshots and later changes that no snapshot has. */
async function start(t: Temporary) {
  writeTree(join(t.path, 'source'), source);
  const { id: base, path } = await t.begin(join(t.path, 'source'));
  writeFileSync(join(path, 'a.txt'), 'changed\n');
  const { id: changed } = await t.workspaces.snapshot({ runId, epoch: 1, parent: base, message: 'changed' });
  const atChanged = readTree(path);
  writeFileSync(join(path, 'half.txt'), 'half');
  writeFileSync(join(path, 'a.txt'), 'half');
  return { base, changed, path, atChanged };
}

const at = async (t: Temporary, epoch: number) => readTree((await t.workspaces.locate({ runId, epoch })).path);

test('a take-over builds a new tree at the snapshot and retires the old one', async ({ t }) => {
  const { changed, path, atChanged } = await start(t);
  await t.workspaces.takeOver({ runId, epoch: 2, snapshot: changed });
  expect(await at(t, 2)).toEqual(atChanged);
  expect(existsSync(path)).toBe(false);
  const stale = { code: 'ELEASESTALE', retryable: false };
  await expect(t.workspaces.locate({ runId, epoch: 1 })).rejects.toMatchObject(stale);
  await expect(t.workspaces.restore({ runId, epoch: 1, snapshot: changed })).rejects.toMatchObject(stale);
  const late = t.workspaces.snapshot({ runId, epoch: 1, parent: changed, message: 'late' });
  await expect(late).rejects.toMatchObject(stale);
  for (const epoch of [1, 2]) {
    await expect(t.workspaces.takeOver({ runId, epoch, snapshot: changed })).rejects.toMatchObject(stale);
  }
  expect(await at(t, 2)).toEqual(atChanged);
  expect(readdirSync(join(t.dataDir, 'runs', runId, 'trees'))).toEqual(['2', 'holdpoint']);
  expect(existsSync(join(t.dataDir, 'runs', runId, 'retired'))).toBe(false);
});

test('snapshots, restores and take-overs continue in the new tree', async ({ t }) => {
  const { base, changed } = await start(t);
  await t.workspaces.takeOver({ runId, epoch: 7, snapshot: changed });
  const { path } = await t.workspaces.locate({ runId, epoch: 7 });
  const unchanged = await t.workspaces.snapshot({ runId, epoch: 7, parent: changed, message: 'none' });
  expect(unchanged).toMatchObject({ id: changed, files_changed: 0 });
  writeFileSync(join(path, 'lib/b.txt'), 'B\n');
  const next = await t.workspaces.snapshot({ runId, epoch: 7, parent: changed, message: 'B' });
  expect(next.files_changed).toBe(1);
  await t.workspaces.restore({ runId, epoch: 7, snapshot: base });
  expect(await at(t, 7)).toEqual(readTree(join(t.path, 'source')));
  await t.workspaces.takeOver({ runId, epoch: 8, snapshot: next.id });
  expect((await at(t, 8))['lib/b.txt']).toBe('file B\n');
  expect(git(t.shadow(runId), 'fsck', '--strict', '--no-dangling')).toBe('');
});

test('a take-over restores .git entries and moves skipped files over', async () => {
  using t = temporary({ limits: { fileBytes: 1000 } });
  const { path, changed } = await start(t);
  mkdirSync(join(path, 'lib/.git'));
  writeFileSync(join(path, 'lib/.git/HEAD'), 'ref');
  writeFileSync(join(path, 'large'), '');
  truncateSync(join(path, 'large'), 5000);
  const { id, skipped } = await t.workspaces.snapshot({ runId, epoch: 1, parent: changed, message: 'large' });
  expect(skipped).toMatchObject([{ path: 'large', reason: 'too_large' }]);
  const before = readTree(path);
  writeFileSync(join(path, 'half.txt'), 'more');
  await t.workspaces.takeOver({ runId, epoch: 2, snapshot: id });
  expect(await at(t, 2)).toEqual(before);
});

test('nothing is moved through a planted link', async () => {
  using t = temporary({ limits: { fileBytes: 1000 } });
  const { path, changed } = await start(t);
  mkdirSync(join(path, 'deep'));
  writeFileSync(join(path, 'deep/large'), Buffer.alloc(5000));
  const { id } = await t.workspaces.snapshot({ runId, epoch: 1, parent: changed, message: 'large' });
  const outside = join(t.path, 'outside');
  mkdirSync(join(outside, '.git'), { recursive: true });
  writeFileSync(join(outside, 'large'), Buffer.alloc(6000));
  await t.workspaces.restore({ runId, epoch: 1, snapshot: changed });
  rmSync(join(path, 'deep'), { recursive: true });
  symlinkSync(outside, join(path, 'deep'));
  await t.workspaces.takeOver({ runId, epoch: 2, snapshot: id });
  expect(readdirSync(outside).sort()).toEqual(['.git', 'large']);
  expect((await at(t, 2))['deep/large']).toBeUndefined();
});

test('a take-over killed at any point is finished by the next', async ({ t }) => {
  const { changed, atChanged } = await start(t);
  let epoch = 2;
  let killed = 0;
  for (let dieAt = 1; ; dieAt++, epoch++) {
    const act = { verb: 'take_over', epoch, snapshot: changed };
    if (!runUntilKilled({ dataDir: t.dataDir, runId, dieAt, act })) break;
    killed += 1;
    epoch += 1;
    await t.reopen().takeOver({ runId, epoch, snapshot: changed });
    expect(await at(t, epoch)).toEqual(atChanged);
  }
  // A tree on a layer has two points more.
  expect(killed).toBe(isLayered(t) ? 5 : 3);
  expect(await at(t, epoch)).toEqual(atChanged);
  expect(readdirSync(join(t.dataDir, 'runs', runId)).filter((name) => name === 'retired')).toEqual([]);
});

test('a tree placed by a take-over that died afterwards is used unchanged', async ({ t }) => {
  const { changed, atChanged } = await start(t);
  const dieAt = isLayered(t) ? 5 : 3;
  expect(
    runUntilKilled({ dataDir: t.dataDir, runId, dieAt, act: { verb: 'take_over', epoch: 2, snapshot: changed } }),
  ).toBe(true);
  const { path } = await t.reopen().locate({ runId, epoch: 2 });
  expect(readTree(path)).toEqual(atChanged);
});

test.for(['restore', 'snapshot', 'take_over'])(
  'a worker frozen during a %s changes nothing when it resumes',
  async (verb, { t }) => {
    const { base, changed, atChanged } = await start(t);
    let epoch = 1;
    let frozen = 0;
    for (let point = 1; ; point++) {
      if (epoch > 1) await t.workspaces.takeOver({ runId, epoch: ++epoch, snapshot: changed });
      writeFileSync(join((await t.workspaces.locate({ runId, epoch })).path, 'a.txt'), `half ${point}`);
      const act =
        verb === 'snapshot'
          ? { verb, epoch, parent: changed }
          : verb === 'restore'
            ? { verb, epoch, snapshot: base }
            : { verb, epoch: ++epoch, snapshot: base };
      const worker = await freezeAt({ dataDir: t.dataDir, runId, point, act });
      if (worker === undefined) break;
      frozen += 1;
      const successor = t.reopen();
      epoch += 1;
      await successor.takeOver({ runId, epoch, snapshot: changed });
      const { path } = await successor.locate({ runId, epoch });
      writeFileSync(join(path, 'new.txt'), 'new\n');
      const mine = await successor.snapshot({ runId, epoch, parent: changed, message: 'mine' });
      await worker.thaw();
      expect(await at(t, epoch)).toEqual({ ...atChanged, 'new.txt': 'file new\n' });
      const again = await successor.snapshot({ runId, epoch, parent: mine.id, message: 'again' });
      expect(again).toMatchObject({ id: mine.id, files_changed: 0 });
      // Another worker, which reads everything from disk, sees the same.
      writeFileSync(join(path, 'new.txt'), 'later\n');
      const later = await t.reopen().snapshot({ runId, epoch, parent: mine.id, message: 'later' });
      expect(later.files_changed).toBe(1);
    }
    expect(frozen).toBeGreaterThanOrEqual(2);
    expect(git(t.shadow(runId), 'fsck', '--strict', '--no-dangling')).toBe('');
  },
);

test('when two processes build a run, the first to finish wins', async ({ t }) => {
  writeTree(join(t.path, 'source'), source);
  const directory = { type: 'directory' as const, path: join(t.path, 'source') };
  let frozen = 0;
  for (let point = 1; ; point += stride) {
    const worker = await freezeAt({
      dataDir: t.dataDir,
      runId,
      point,
      act: { verb: 'materialise', source: directory },
    });
    if (worker === undefined) break;
    frozen += 1;
    const { id, path } = await t.begin(directory);
    writeFileSync(join(path, 'mine.txt'), 'mine');
    const mine = await t.workspaces.snapshot({ runId, epoch: 1, parent: id, message: 'mine' });
    expect(await worker.thaw()).toBe('');
    expect(readFileSync(join(path, 'mine.txt'), 'utf8')).toBe('mine');
    expect(await t.workspaces.snapshot({ runId, epoch: 1, parent: mine.id, message: 'again' })).toMatchObject({
      id: mine.id,
    });
    expect(readdirSync(join(t.dataDir, 'making'))).toEqual([]);
    await t.workspaces.discard(runId);
  }
  expect(frozen).toBeGreaterThanOrEqual(tried(4));
});

test('the next process removes the unfinished folders of a killed one', async ({ t }) => {
  writeTree(join(t.path, 'source'), source);
  const directory = { type: 'directory' as const, path: join(t.path, 'source') };
  const worker = await freezeAt({
    dataDir: t.dataDir,
    runId,
    point: 2,
    act: { verb: 'materialise', source: directory },
  });
  const making = () => readdirSync(join(t.dataDir, 'making'));
  const unfinished = making();
  expect(unfinished.filter((name) => name.startsWith(runId))).toHaveLength(1);
  await t.workspaces.removeAbandonedBuilds();
  expect(making()).toEqual(unfinished);
  await worker?.kill();
  await t.workspaces.removeAbandonedBuilds();
  expect(making()).toEqual([]);
});
