import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test as plainTest } from 'vitest';
import { mountPointsIn } from '../../bounds/mounts.ts';
import type { Workspaces } from '../../deps.ts';
import { owner, readTree, runId, temporary } from '../../testing/index.ts';
import { environment, script } from '../../testing/run-until-killed.ts';
import { isMountPoint } from './mounts.ts';
import { unmountTrees } from './on-this-host.ts';
import { createSharing } from './sharing.ts';

const files = { 'a.txt': 'a\n', 'lib/b.txt': 'b\n', empty: null };

const trial = temporary();
const reason = await createSharing({ setting: 'always', dataDir: trial.dataDir }).reason();
trial[Symbol.dispose]();
const test = plainTest.skipIf(reason !== undefined);

const treeOf = async (of: Workspaces, epoch: number) => (await of.locate({ runId, epoch })).path;
const look = (snapshot: string, epoch = 1) => ({ runId, epoch, writer: '', snapshot, isShared: false });

test.each([
  ['copy', 'always'],
  ['always', 'copy'],
] as const)('a run that began with %s continues with %s', async (first, second) => {
  using t = temporary({ layers: first });
  const { id, path } = await t.begin(t.source(files));
  writeFileSync(join(path, 'a.txt'), 'changed\n');
  const before = readTree(path);
  expect(await unmountTrees(t.dataDir, 0)).toBe(0);
  const other = t.reopen({ layers: second });
  const changed = await other.snapshot({ runId, epoch: 1, parent: id, message: '' });
  expect(changed.files_changed).toBe(1);
  expect(await treeOf(other, 1)).toBe(path);
  expect(isMountPoint(path)).toBe(first === 'always');
  expect(readTree(path)).toEqual(before);
  await other.restore({ runId, epoch: 1, snapshot: id });
  await other.restore({ runId, epoch: 1, snapshot: changed.id });
  expect(readTree(path)).toEqual(before);
  await other.fork({ runId: 'run_2', from: { runId, snapshot: changed.id } });
  const forked = await other.locate({ runId: 'run_2', epoch: 1 });
  expect(isMountPoint(forked.path)).toBe(second === 'always');
  expect(readTree(forked.path)).toEqual(before);
  await other.takeOver({ runId, epoch: 2, snapshot: changed.id });
  const taken = await treeOf(other, 2);
  expect(isMountPoint(taken)).toBe(second === 'always');
  expect(readTree(taken)).toEqual(before);
  for (const run of [runId, 'run_2']) await other.discard(run);
  expect(existsSync(path)).toBe(false);
});

test('a data directory that is moved keeps its trees, also while they are mounted', async () => {
  using t = temporary({ layers: 'always' });
  const { id, path } = await t.begin(t.source(files));
  writeFileSync(join(path, 'a.txt'), 'changed\n');
  const before = readTree(path);
  for (const end of ['mounted', 'unmounted']) {
    if (end === 'unmounted') expect(await unmountTrees(join(t.path, 'mounted'), 0)).toBe(0);
    const from = end === 'mounted' ? t.dataDir : join(t.path, 'mounted');
    renameSync(from, join(t.path, end));
    const there = t.reopen({ dataDir: join(t.path, end) });
    expect(readTree(await treeOf(there, 1))).toEqual(before);
    expect((await there.snapshot({ runId, epoch: 1, parent: id, message: '' })).files_changed).toBe(1);
  }
});

test('the trees of a data directory that was copied, or came back from a backup, are built again', async () => {
  using t = temporary({ layers: 'always' });
  const { id, path } = await t.begin(t.source(files));
  writeFileSync(join(path, 'a.txt'), 'changed\n');
  const { id: changed } = await t.snapshot(id);
  const before = readTree(path);
  expect(await unmountTrees(t.dataDir, 0)).toBe(0);
  const dataDir = join(t.path, 'copy');
  spawnSync('cp', ['-a', t.dataDir, dataDir]);
  const there = t.reopen({ dataDir });
  const found = await there.inspect(look(changed));
  expect(found).toMatchObject({ status: 'lost', reason: 'tree_changed' });
  await there.takeOver({ runId, epoch: 2, snapshot: changed });
  expect(readTree(await treeOf(there, 2))).toEqual(before);
  expect(await there.inspect(look(changed, 2))).toMatchObject({ status: 'sound' });
});

test('a worker that may mount no longer builds the tree again as a plain folder', async () => {
  using t = temporary({ layers: 'always' });
  const { id, path } = await t.begin(t.source(files));
  writeFileSync(join(path, 'a.txt'), 'changed\n');
  const { id: changed } = await t.snapshot(id);
  const before = readTree(path);
  expect(await unmountTrees(t.dataDir, 0)).toBe(0);
  const act = (verb: object) => {
    const input = JSON.stringify({ ...{ owner, dataDir: t.dataDir, runId, dieAt: 0 }, act: verb });
    const node = [process.execPath, script, input];
    return spawnSync('setpriv', ['--bounding-set=-sys_admin', '--', ...node], { encoding: 'utf8', env: environment });
  };
  const snapshot = act({ verb: 'snapshot', parent: changed });
  expect(snapshot.stderr).toContain('ELAYERLOST');
  const taken = act({ verb: 'take_over', epoch: 2, snapshot: changed });
  expect(taken).toMatchObject({ status: 0, stderr: '' });
  const second = await treeOf(t.workspaces, 2);
  expect(isMountPoint(second)).toBe(false);
  expect(readTree(second)).toEqual(before);
});

test.each([
  ['tmpfs', true],
  ['overlay', false],
] as const)('a data directory on %s: trees are on layers is %s', async (type, isLayered) => {
  const top = mkdtempSync(join(tmpdir(), 'holdpoint-forms-'));
  const at = (name: string) => join(top, name);
  for (const name of ['lower', 'upper', 'work', 'disk']) mkdirSync(at(name));
  const over = `lowerdir=${at('lower')},upperdir=${at('upper')},workdir=${at('work')}`;
  const options = type === 'overlay' ? ['-o', over] : [];
  expect(spawnSync('mount', ['-t', type, 'data', ...options, at('disk')]).status).toBe(0);
  try {
    using t = temporary({ layers: 'auto', dataDir: at('disk/data') });
    const names = Array.from({ length: 60 }, (_, index) => [`folder/${index}.txt`, `${index}\n`] as const);
    const { id, path } = await t.begin(t.source(Object.fromEntries(names)));
    expect(isMountPoint(path)).toBe(isLayered);
    await t.workspaces.takeOver({ runId, epoch: 2, snapshot: id });
    const taken = await treeOf(t.workspaces, 2);
    expect(isMountPoint(taken)).toBe(isLayered);
    expect(readTree(taken)).toEqual(readTree(join(t.path, 'source')));
    const why = await createSharing({ setting: 'auto', dataDir: at('disk/data') }).reason();
    if (isLayered) expect(why).toBeUndefined();
    else expect(why).toContain('overlay mounts do not work here');
  } finally {
    spawnSync('umount', ['-R', at('disk')]);
    rmSync(top, { recursive: true });
  }
});

test('a failed take-over leaves no mount, and nothing of its build', async () => {
  let fails = false;
  const onPoint = (point: string) => {
    if (fails && point === 'take-over.grown') throw new Error('stop');
  };
  using t = temporary({ layers: 'always', onPoint });
  const { id, path } = await t.begin(t.source(files));
  const before = readTree(path);
  fails = true;
  await expect(t.workspaces.takeOver({ runId, epoch: 2, snapshot: id })).rejects.toThrow('stop');
  expect(mountPointsIn(t.path)).toEqual([]);
  const retired = join(t.dataDir, 'runs', runId, 'retired');
  expect(readdirSync(retired).filter((name) => !name.startsWith('1.'))).toEqual([]);
  fails = false;
  await t.workspaces.takeOver({ runId, epoch: 3, snapshot: id });
  const taken = await treeOf(t.workspaces, 3);
  expect(mountPointsIn(t.path)).toEqual([taken]);
  expect(readTree(taken)).toEqual(before);
});
