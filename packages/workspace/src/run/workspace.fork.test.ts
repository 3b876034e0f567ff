import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { linkObjects } from '../store/link-objects.ts';
import { readTree, writeTree } from '../testing/file-tree.ts';
import { rejects, test } from '../testing/fixture.ts';
import { isLayered, runUntilKilled, stride, type Temporary, temporary, tried } from '../testing/index.ts';
import { git } from '../testing/real-git.ts';

const parent = 'run_parent';
const child = 'run_child';

/** A run of three snapshots: the base, and one after each of two changes. */
async function start(t: Temporary, type: 'directory' | 'git' = 'git') {
  const source = t.source(
    { 'a.txt': 'a\n', 'b/c.txt': 'c\n', 'run.sh': { executable: 'x' }, link: { link: 'a.txt' } },
    type,
  );
  const base = await t.workspaces.materialise({ runId: parent, source: { type, path: source } });
  const { path } = await t.workspaces.locate({ runId: parent, epoch: 1 });
  writeTree(path, { 'a.txt': 'first\n', empty: null, 'new.txt': 'new\n' });
  const first = await t.workspaces.snapshot({ epoch: 1, runId: parent, parent: base.id, message: 'first' });
  const atFirst = readTree(path);
  writeTree(path, { 'a.txt': 'second\n' });
  rmSync(join(path, 'b'), { recursive: true });
  const second = await t.workspaces.snapshot({ epoch: 1, runId: parent, parent: first.id, message: 'second' });
  return { source, base, first, second, path, atFirst };
}

const fork = (t: Temporary, snapshot: string, runId = child, from = parent) =>
  t.workspaces.fork({ runId, from: { runId: from, snapshot } });

test.for(['directory', 'git'] as const)(
  'a fork of a %s has the files of its snapshot and the base of the other run',
  async (type, { t }) => {
    const { source, base, first, path, atFirst } = await start(t, type);
    const now = readTree(path);
    const made = await fork(t, first.id);
    expect(made).toMatchObject({ id: first.id, base: base.id, base_commit: base.base_commit, files: 5 });
    const where = await t.workspaces.locate({ runId: child, epoch: 1 });
    expect(readTree(where.path)).toEqual(atFirst);
    expect(readTree(path)).toEqual(now);
    expect(await t.reopen().fork({ runId: child, from: { runId: parent, snapshot: first.id } })).toEqual(made);

    writeTree(where.path, { 'child.txt': 'child\n' });
    const next = await t.workspaces.snapshot({ epoch: 1, runId: child, parent: made.id, message: 'child' });
    const { files: changed } = await t.workspaces.diff({ runId: child, from: base.id, to: next.id });
    expect(changed.map((file) => file.path)).toEqual(['a.txt', 'child.txt', 'new.txt']);
    await t.workspaces.restore({ epoch: 1, runId: child, snapshot: first.id });
    expect(readTree(where.path)).toEqual(atFirst);
    expect(await t.publish({ runId: child, snapshot: next.id })).toMatchObject({ status: 'published' });
    const text = type === 'git' ? git(source, 'show', `holdpoint/${child}:a.txt`) : readTree(source)['a.txt'];
    expect(text).toContain('first');
    expect(git(t.shadow(child), 'fsck', '--strict', '--no-dangling')).toBe('');
  },
);

test('a fork is independent of later changes in the other run', async ({ t }) => {
  const { first, second } = await start(t);
  await fork(t, second.id);
  const grandchild = await fork(t, second.id, 'run_grandchild', child);
  expect(grandchild.id).toBe(second.id);
  await t.workspaces.collect(parent);
  await t.workspaces.discard(parent);
  await t.workspaces.discard(child);
  await t.workspaces.restore({ epoch: 1, runId: 'run_grandchild', snapshot: second.id });
  expect(git(t.shadow('run_grandchild'), 'fsck', '--strict', '--no-dangling', '--full')).toBe('');
  await rejects(fork(t, first.id, 'run_late'), 'EWORKSPACEMISSING');
  await rejects(fork(t, 'f'.repeat(40), 'run_late', 'run_grandchild'), 'ESNAPSHOTUNKNOWN');
});

test('a fork shares packs by hard links', async ({ t }) => {
  const { first } = await start(t);
  await fork(t, first.id);
  const packs = (runId: string) => {
    const folder = join(t.shadow(runId), 'objects/pack');
    const names = readdirSync(folder).filter((name) => /^pack-.*(pack|idx)$/.test(name));
    return names.map((name) => statSync(join(folder, name)).ino);
  };
  expect(packs(child)).toEqual(expect.arrayContaining(packs(parent)));
});

test('a fork killed at any point is finished by the next call', async ({ t }) => {
  const { first, atFirst } = await start(t);
  const act = { verb: 'fork', from: { runId: parent, snapshot: first.id } };
  let killed = 0;
  for (let dieAt = 1; runUntilKilled({ dataDir: t.dataDir, runId: child, dieAt, act }); dieAt += stride) {
    killed += 1;
    const { id } = await fork(t, first.id);
    expect(readTree((await t.workspaces.locate({ runId: child, epoch: 1 })).path)).toEqual(atFirst);
    expect(git(t.shadow(child), 'fsck', '--strict', '--no-dangling')).toBe('');
    const { path } = await t.workspaces.locate({ runId: child, epoch: 1 });
    writeFileSync(join(path, 'x'), 'x');
    await t.workspaces.snapshot({ epoch: 1, runId: child, parent: id, message: 'x' });
    await t.workspaces.discard(child);
  }
  expect(killed).toBe(tried(isLayered(t) ? 9 : 7));
});

test('a fork is complete while the other run is written and collected', async ({ t }) => {
  const { path, second } = await start(t);
  const other = t.reopen();
  let latest = second.id;
  const busy = (async () => {
    for (let round = 0; round < 12; round++) {
      writeTree(path, { [`n${round}`]: `${round}\n` });
      latest = (await other.snapshot({ epoch: 1, runId: parent, parent: latest, message: 'x' })).id;
      if (round % 3 === 0) await other.collect(parent);
    }
  })();
  for (let round = 0; round < 6; round++) {
    const runId = `run_${round}`;
    await fork(t, latest, runId);
    expect(git(t.shadow(runId), 'fsck', '--strict', '--no-dangling', '--full')).toBe('');
  }
  await busy;
});

test('a fork can restore any earlier snapshot', async ({ t }) => {
  const { base, first, second, atFirst } = await start(t);
  await fork(t, second.id);
  const { path } = await t.workspaces.locate({ runId: child, epoch: 1 });
  await t.workspaces.restore({ epoch: 1, runId: child, snapshot: first.id });
  expect(readTree(path)).toEqual(atFirst);
  const { files: changed } = await t.workspaces.diff({ runId: child, from: base.id, to: first.id });
  expect(changed.map((file) => file.path)).toEqual(['a.txt', 'new.txt']);
  const other = await t.workspaces.snapshot({
    epoch: 1,
    runId: parent,
    parent: second.id,
    message: 'not before',
    paths: [],
  });
  expect(other.id).toBe(second.id);
});

test('skipped files are absent from a fork and do not count as removed', async () => {
  using t = temporary({ limits: { fileBytes: 1000 } });
  const source = t.source({ 'a.txt': 'a\n', big: 'x'.repeat(2000) });
  const base = await t.workspaces.materialise({ runId: parent, source: { type: 'directory', path: source } });
  const made = await fork(t, base.id);
  expect(made.skipped).toEqual([{ path: 'big', reason: 'too_large' }]);
  const { path } = await t.workspaces.locate({ runId: child, epoch: 1 });
  expect(readTree(path)).toEqual({ 'a.txt': 'file a\n' });
  expect((await t.workspaces.snapshot({ epoch: 1, runId: child, parent: base.id, message: '' })).id).toBe(base.id);

  writeTree(path, { 'a.txt': 'b\n' });
  const next = await t.workspaces.snapshot({ epoch: 1, runId: child, parent: base.id, message: 'x' });
  expect(next).toMatchObject({ files_changed: 1, skipped: made.skipped });
  expect(await t.publish({ runId: child, snapshot: next.id })).toMatchObject({ status: 'published' });
  expect(readTree(source)).toEqual({ 'a.txt': 'file b\n', big: `file ${'x'.repeat(2000)}` });

  // A file that the run creates at that path is like any other.
  writeTree(path, { big: 'small' });
  await t.workspaces.restore({ epoch: 1, runId: child, snapshot: next.id });
  expect(readTree(path)).toEqual({ 'a.txt': 'file b\n' });
});

test.for([
  ['fork.folder', false],
  ['fork.objects', true],
] as const)('the other run is discarded at %s', async ([moment, enough], { t }) => {
  const { first, atFirst } = await start(t);
  const elsewhere = join(t.path, 'gone');
  const workspaces = t.reopen({
    onPoint: (point) => {
      if (point === moment) renameSync(join(t.dataDir, 'runs', parent), elsewhere);
    },
  });
  const forking = workspaces.fork({ runId: child, from: { runId: parent, snapshot: first.id } });
  if (enough) {
    await forking;
    expect(readTree((await workspaces.locate({ runId: child, epoch: 1 })).path)).toEqual(atFirst);
    expect(git(t.shadow(child), 'fsck', '--strict', '--no-dangling', '--full')).toBe('');
  } else {
    await rejects(forking, 'EWORKSPACEMISSING');
    await rejects(workspaces.locate({ runId: child, epoch: 1 }), 'EWORKSPACEMISSING');
  }
});

test('a fork retries when a collection removes packs during it', async ({ t }) => {
  const { first, atFirst } = await start(t);
  let rounds = 0;
  const workspaces = t.reopen({
    onPoint: (point) => {
      if (point !== 'fork.linked') return;
      rounds += 1;
      const packs = join(t.shadow(child), 'objects/pack');
      if (rounds < 3) for (const name of readdirSync(packs)) rmSync(join(packs, name));
    },
  });
  await workspaces.fork({ runId: child, from: { runId: parent, snapshot: first.id } });
  expect(rounds).toBe(3);
  expect(readTree((await workspaces.locate({ runId: child, epoch: 1 })).path)).toEqual(atFirst);
  expect(git(t.shadow(child), 'fsck', '--strict', '--no-dangling', '--full')).toBe('');
});

test('a fork fails when objects are missing', async ({ t }) => {
  const { first } = await start(t);
  for (const name of readdirSync(join(t.shadow(parent), 'objects/pack'))) {
    rmSync(join(t.shadow(parent), 'objects/pack', name));
  }
  await rejects(fork(t, first.id), 'EGITFAILED');
  await rejects(t.workspaces.locate({ runId: child, epoch: 1 }), 'EWORKSPACEMISSING');
});

test.runIf(existsSync('/dev/shm'))('files are copied where they cannot be linked', async ({ t }) => {
  const { first } = await start(t);
  const elsewhere = mkdtempSync('/dev/shm/holdpoint-');
  try {
    git(elsewhere, 'init', '-q', '--bare');
    await linkObjects(t.shadow(parent), elsewhere);
    expect(git(elsewhere, 'cat-file', '-t', first.id)).toBe('commit');
    expect(git(elsewhere, 'fsck', '--full', '--no-dangling')).not.toMatch(/missing|error/);
  } finally {
    rmSync(elsewhere, { recursive: true });
  }
});
