import { execFileSync } from 'node:child_process';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { test } from '../testing/fixture.ts';
import { git, readTree, runUntilKilled, type Temporary, writeTree } from '../testing/index.ts';

const [runId, childId] = ['run_parent', 'run_child'];
const lines = (text: string) => `${text.split('').join('\n')}\n`;

/** A run and a fork of it. */
async function start(t: Temporary) {
  writeTree(join(t.path, 'source'), { 'a.txt': lines('abcdefgh'), 'b.txt': 'b\n', 'c.txt': 'c\n' });
  const directory = { type: 'directory' as const, path: join(t.path, 'source') };
  const { id: base } = await t.workspaces.materialise({ runId, source: directory });
  await t.workspaces.fork({ runId: childId, from: { runId, snapshot: base } });
  const [ours, theirs] = await Promise.all([runId, childId].map((id) => t.workspaces.locate({ runId: id, epoch: 1 })));
  const take = (id: string, parent: string) =>
    t.workspaces.snapshot({ runId: id, epoch: 1, parent, message: 'changed' }).then((snapshot) => snapshot.id);
  const merge = (parent: string, snapshot: string) =>
    t.workspaces.merge({ runId, epoch: 1, parent, from: { runId: childId, snapshot, base }, message: 'merge' });
  return { base, ours: ours?.path ?? '', theirs: theirs?.path ?? '', take, merge };
}

test('takes the changes of the other run as one snapshot', async ({ t }) => {
  const { base, ours, theirs, take, merge } = await start(t);
  writeTree(theirs, { 'a.txt': lines('Abcdefgh'), 'new/d.txt': 'd\n', 'new/empty': null });
  rmSync(join(theirs, 'c.txt'));
  chmodSync(join(theirs, 'b.txt'), 0o755);
  const merged = await merge(base, await take(childId, base));
  expect(merged).toMatchObject({ status: 'merged', paths: ['a.txt', 'b.txt', 'c.txt', 'new/d.txt'] });
  expect(readTree(ours)).toEqual(readTree(theirs));
  const snapshot = merged.status === 'merged' ? merged.snapshot : undefined;
  expect(snapshot).toMatchObject({ parent: base, files_changed: 4 });
  await t.workspaces.discard(childId);
  expect(git(t.shadow(runId), 'fsck', '--strict', '--no-dangling')).toBe('');
  expect(await t.workspaces.snapshot({ runId, epoch: 1, parent: snapshot?.id ?? '', message: 'none' })).toMatchObject({
    files_changed: 0,
  });
});

test('merges changes of both sides, also in one file', async ({ t }) => {
  const { base, ours, theirs, take, merge } = await start(t);
  writeTree(ours, { 'a.txt': lines('abcdefgH'), 'ours.txt': 'ours\n' });
  writeTree(theirs, { 'a.txt': lines('Abcdefgh'), 'b.txt': 'theirs\n' });
  const merged = await merge(await take(runId, base), await take(childId, base));
  expect(merged).toMatchObject({ status: 'merged', paths: ['a.txt', 'b.txt'] });
  expect(readTree(ours)).toMatchObject({
    ...{ 'a.txt': `file ${lines('AbcdefgH')}`, 'b.txt': 'file theirs\n', 'ours.txt': 'file ours\n' },
  });
});

test('a conflict names the files and changes nothing', async ({ t }) => {
  const { base, ours, theirs, take, merge } = await start(t);
  writeTree(ours, { 'b.txt': 'ours\n' });
  writeTree(theirs, { 'b.txt': 'theirs\n', 'd.txt': 'd\n' });
  const parent = await take(runId, base);
  const before = readTree(ours);
  const merged = await merge(parent, await take(childId, base));
  expect(merged).toMatchObject({ status: 'conflict', conflicts: [{ path: 'b.txt' }] });
  expect(readTree(ours)).toEqual(before);
  expect(await t.workspaces.snapshot({ runId, epoch: 1, parent, message: 'none' })).toMatchObject({ id: parent });
});

test('a file moved by one side and changed by the other is a conflict', async ({ t }) => {
  const { base, ours, theirs, take, merge } = await start(t);
  rmSync(join(theirs, 'a.txt'));
  writeTree(theirs, { 'moved.txt': lines('abcdefgh') });
  writeTree(ours, { 'a.txt': lines('Abcdefgh') });
  const parent = await take(runId, base);
  const before = readTree(ours);
  const reason = 'This run changed this file, and the other run deleted it. It was probably moved to moved.txt.';
  expect(await merge(parent, await take(childId, base))).toEqual({
    ...{ status: 'conflict', conflicts: [{ path: 'a.txt', reason }] },
  });
  expect(readTree(ours)).toEqual(before);
});

test('a file with the attribute -merge is a conflict', async ({ t }) => {
  const { base, ours, theirs, take, merge } = await start(t);
  writeTree(ours, {
    '.gitattributes': 'a.txt -merge\nb.txt merge=union\n',
    'a.txt': lines('abcdefgH'),
    'b.txt': 'b\nours\n',
  });
  writeTree(theirs, { 'a.txt': lines('Abcdefgh'), 'b.txt': 'b\ntheirs\n' });
  const reason =
    'This run and the other run changed this file. .gitattributes exclude it from merges (-merge or binary).';
  expect(await merge(await take(runId, base), await take(childId, base))).toEqual({
    ...{ status: 'conflict', conflicts: [{ path: 'a.txt', reason }] },
  });
});

test('merges empty folders of both sides', async ({ t }) => {
  const { base, ours, take } = await start(t);
  writeTree(ours, { 'ours/empty': null, 'gone/empty': null, 'kept/empty': null, 'b.txt': 'ours\n' });
  const parent = await take(runId, base);
  await t.workspaces.fork({ runId: 'run_second', from: { runId, snapshot: parent } });
  const second = (await t.workspaces.locate({ runId: 'run_second', epoch: 1 })).path;
  rmSync(join(second, 'gone'), { recursive: true });
  writeTree(second, { 'theirs/empty': null, 'c.txt': 'theirs\n' });
  const snapshot = await take('run_second', parent);
  writeTree(ours, { 'b.txt': 'ours again\n' });
  const now = await take(runId, parent);
  const from = { runId: 'run_second', snapshot, base: parent };
  const merged = await t.workspaces.merge({ runId, epoch: 1, parent: now, from, message: 'merge' });
  expect(merged).toMatchObject({ status: 'merged', paths: ['c.txt'] });
  expect(readTree(ours)).toMatchObject({ 'ours/empty': 'folder', 'kept/empty': 'folder', 'theirs/empty': 'folder' });
  expect(readTree(ours)).not.toHaveProperty('gone');
});

test('a merge killed at any point is repeated with the same result', async ({ t }) => {
  const { base, ours, theirs, take, merge } = await start(t);
  writeTree(ours, { 'ours.txt': 'ours\n' });
  writeTree(theirs, { 'b.txt': 'theirs\n' });
  const [parent, snapshot] = [await take(runId, base), await take(childId, base)];
  const act = { verb: 'merge', parent, from: { runId: childId, snapshot, base } };
  let killed = 0;
  for (let dieAt = 1; runUntilKilled({ dataDir: t.dataDir, runId, dieAt, act }); dieAt++) {
    killed += 1;
    await t.workspaces.restore({ runId, epoch: 1, snapshot: parent });
    expect(await merge(parent, snapshot)).toMatchObject({ status: 'merged', paths: ['b.txt'] });
    expect(readTree(ours)).toMatchObject({ 'b.txt': 'file theirs\n', 'ours.txt': 'file ours\n' });
    writeFileSync(join(ours, 'b.txt'), 'half');
    await t.workspaces.restore({ runId, epoch: 1, snapshot: parent });
  }
  expect(killed).toBeGreaterThanOrEqual(4);
});

test('a process that lost the workspace cannot merge', async ({ t }) => {
  const { base, theirs, take, merge } = await start(t);
  writeTree(theirs, { 'b.txt': 'theirs\n' });
  const snapshot = await take(childId, base);
  await t.workspaces.takeOver({ runId, epoch: 2, snapshot: base });
  await expect(merge(base, snapshot)).rejects.toMatchObject({ code: 'ELEASESTALE' });
});

test('lists files of the other run that no snapshot can hold', async ({ t }) => {
  const { base, theirs, take, merge } = await start(t);
  writeTree(theirs, { 'b.txt': 'theirs\n' });
  execFileSync('mkfifo', [join(theirs, 'pipe')]);
  const merged = await merge(base, await take(childId, base));
  expect(merged).toMatchObject({ status: 'merged', paths: ['b.txt'], left_out: ['pipe'] });
});
