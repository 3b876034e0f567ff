import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test as plainTest } from 'vitest';
import type { Deps, Workspaces } from '../../deps.ts';
import { runFolder, thisProcess } from '../../run-folder/index.ts';
import { createChecks } from '../../store/keyed/index.ts';
import { readTree, runId, type Temporary, temporary, unmountBelow } from '../../testing/index.ts';
import { openMounted } from './mounted-tree.ts';
import { boundMounts, isMountPoint } from './mounts.ts';
import { unmountTrees } from './on-this-host.ts';
import { takeLayer } from './overlay-driver.ts';
import { createSharing } from './sharing.ts';

const files = {
  'a.txt': 'a\n',
  'lib/b.txt': 'b\n',
  'lib/c.txt': 'c\n',
  'lib/deep/d.txt': 'd\n',
  'other/b.txt': 'not b\n',
  'other/c.txt': 'not c\n',
  empty: null,
  run: { executable: '#!/bin/sh\n' },
};

const layered = () => temporary({ layers: 'always' });
let next = 20_100;
const ownUid = () => ({ uid: ++next, gid: next });

const trial = temporary();
const reason = await createSharing({ setting: 'auto', dataDir: trial.dataDir }).reason();
trial[Symbol.dispose]();
/** Elsewhere every tree is a copy, which the other suites test. */
const test = plainTest.skipIf(reason !== undefined);

plainTest('without overlay mounts, or when the operator says so, trees are copies', async () => {
  using t = temporary({ layers: 'copy' });
  const { path } = await t.begin(t.source(files));
  expect(isMountPoint(path)).toBe(false);
  expect(existsSync(join(t.dataDir, 'layers'))).toBe(false);
});

test('a layer placed by another process at the same moment stays', async () => {
  using t = layered();
  const source = t.source(files);
  await t.begin(source);
  const [layer = ''] = layersIn(t);
  await t.workspaces.discard(runId);
  const other = join(t.path, 'other');
  renameSync(layer, other);
  const { ino } = statSync(other);
  let isPlaced = false;
  const slower = t.reopen({
    onPoint(point) {
      if (point !== 'layer.filled' || isPlaced) return;
      isPlaced = true;
      // Between the look for a layer and the rename.
      queueMicrotask(() => renameSync(other, layer));
    },
  });
  await slower.materialise({ runId: 'run_2', source: { type: 'directory', path: source } });
  expect(isPlaced).toBe(true);
  expect(statSync(layer).ino).toBe(ino);
  expect(readTree(await t.tree('run_2'))).toEqual(readTree(source));
});

test('runs of a source share one layer, each with its own uid and its own changes', async () => {
  using t = temporary({ layers: 'always', allocateOwner: ownUid });
  const source = t.source(files);
  const one = await t.begin(source);
  const two = await t.begin(source, 'run_2');
  expect(layersIn(t)).toHaveLength(1);
  writeFileSync(join(one.path, 'a.txt'), 'changed\n');
  expect(readFileSync(join(two.path, 'a.txt'), 'utf8')).toBe('a\n');
  expect(readTree(two.path)).toEqual(readTree(source));
  const uids = [one, two].map(({ path }) => statSync(join(path, 'lib/b.txt')).uid);
  expect(new Set(uids).size).toBe(2);
  await t.workspaces.discard(runId);
  expect(readTree(two.path)).toEqual(readTree(source));
});

test.each([
  { type: 'directory', count: 3, isMounted: false },
  { type: 'git', count: 3, isMounted: false },
  { type: 'directory', count: 60, isMounted: true },
  { type: 'git', count: 60, isMounted: true },
] as const)('$count files of a $type: on a layer is $isMounted, also after a fork and a take-over', async (input) => {
  const { type, count, isMounted } = input;
  using t = temporary({ layers: 'auto', allocateOwner: ownUid });
  const names = Array.from({ length: count }, (_, index) => [`folder/${index}.txt`, `${index}\n`] as const);
  const path = t.source(Object.fromEntries(names), type);
  const source = { type, path } as const;
  for (const run of [runId, 'run_2']) {
    const made = await t.begin(source, run);
    expect(isMountPoint(made.path)).toBe(isMounted);
    expect(readTree(join(made.path, 'folder'))).toEqual(readTree(join(path, 'folder')));
    expect(statSync(join(made.path, 'folder/0.txt')).uid).toBe(next);
    // What a run adds changes nothing of it.
    for (let index = 0; index < 100; index++) writeFileSync(join(made.path, `new-${index}`), '');
    const { id } = await t.snapshot(made.id, run);
    const fork = `${run}_fork`;
    await t.workspaces.fork({ runId: fork, from: { runId: run, snapshot: id } });
    for (const taken of [run, fork]) {
      await t.workspaces.takeOver({ runId: taken, epoch: 2, snapshot: id });
      const { path: tree } = await t.workspaces.locate({ runId: taken, epoch: 2 });
      expect(isMountPoint(tree)).toBe(isMounted);
      expect(readdirSync(tree).filter((name) => name.startsWith('new-'))).toHaveLength(100);
    }
  }
  expect(layersIn(t)).toHaveLength(isMounted ? 1 : 0);
});

test('tenants share no layer', async () => {
  using t = layered();
  const source = { type: 'directory', path: t.source(files) } as const;
  await t.workspaces.materialise({ runId, source, tenant: 'a' });
  await t.workspaces.materialise({ runId: 'run_2', source, tenant: 'b' });
  expect(layersIn(t)).toHaveLength(2);
});

test('a tree that is not mounted is mounted again and never read as an empty one', async () => {
  using t = layered();
  const { id, path } = await t.begin(t.source(files));
  writeFileSync(join(path, 'new.txt'), 'new\n');
  const before = readTree(path);
  for (const use of ['snapshot', 'inspect', 'restore', 'locate'] as const) {
    unmountBelow(t.path);
    expect(isMountPoint(path)).toBe(false);
    expect(readdirSync(path)).toEqual(['.not-mounted']);
    const input = { runId, epoch: 1, snapshot: id };
    if (use === 'snapshot') expect((await t.snapshot(id)).files_changed).toBe(1);
    else if (use === 'inspect') await t.workspaces.inspect({ ...input, writer: '', isShared: false });
    else if (use === 'restore') await t.workspaces.restore({ ...input, snapshot: (await t.snapshot(id)).id });
    else await t.workspaces.locate(input);
    expect(readTree(path)).toEqual(before);
  }
});

test('a tree that was unmounted after a look is busy, and its mount point is not opened for anyone', async () => {
  using t = layered();
  const { path } = await t.begin(t.source(files));
  const [name = ''] = layersIn(t).map((at) => at.split('/').slice(-2).join('/'));
  const sharing = createSharing({ setting: 'always', dataDir: t.dataDir });
  const deps = { dataDir: t.dataDir, holder: thisProcess(), now: Date.now, sharing, checks: createChecks() };
  const layer = await takeLayer(deps as Deps, name);
  expect(layer).toBeDefined();
  unmountBelow(t.path);
  const folder = runFolder(t.dataDir, runId, 1);
  expect(() => openMounted(folder, layer)).toThrow(expect.objectContaining({ code: 'EWORKSPACEBUSY' }));
  expect(statSync(path).mode & 0o777).toBe(0);
});

test('a tree that nothing used for hours is mounted again, and stays mounted', async () => {
  const clock = { now: Date.now() };
  using t = temporary({ layers: 'always', now: () => clock.now });
  const { id, path } = await t.begin(t.source(files));
  const before = readTree(path);
  clock.now += 5 * 3_600_000;
  unmountBelow(t.path);
  await t.workspaces.locate({ runId, epoch: 1 });
  expect(readTree(path)).toEqual(before);
  expect((await t.snapshot(id)).files_changed).toBe(0);
});

test('the layer of a tree in the trash stays', async () => {
  const clock = { now: Date.now() };
  using t = temporary({ layers: 'always', limits: { layerBytes: 0 }, now: () => clock.now });
  const { path } = await t.begin(t.source(files));
  const before = readTree(path);
  clock.now += 2 * 3_600_000;
  for (let round = 0; round < 2; round++) await t.workspaces.tidy({ isKnown: () => Promise.resolve(false) });
  const [name = ''] = readdirSync(join(t.dataDir, 'trash'));
  expect(layersIn(t)).toHaveLength(1);
  renameSync(join(t.dataDir, 'trash', name), join(t.dataDir, 'runs', runId));
  await t.workspaces.locate({ runId, epoch: 1 });
  expect(readTree(path)).toEqual(before);
});

test('the tree of a commit with a file that no snapshot can hold is a plain folder', async () => {
  using t = temporary({ layers: 'always', limits: { fileBytes: 100 } });
  const path = t.source({ ...files, large: 'x'.repeat(200) }, 'git');
  const large = [{ path: 'large', reason: 'too_large' }];
  const first = await t.begin({ type: 'git', path });
  expect(first.base.skipped).toEqual(large);
  // Another host with a higher limit has made a layer of it.
  await t.reopen({ limits: { fileBytes: 1000 } }).materialise({ runId: 'run_2', source: { type: 'git', path } });
  expect(layersIn(t)).toHaveLength(1);
  const third = await t.begin({ type: 'git', path }, 'run_3');
  expect(third.base.skipped).toEqual(large);
  expect(isMountPoint(third.path)).toBe(false);
  expect((await t.snapshot(third.id, 'run_3')).skipped).toEqual(large);
});

test('trees that nothing uses are unmounted when the workers have ended', async () => {
  using t = layered();
  const source = t.source(files);
  const [one, two] = [await t.begin(source), await t.begin(source, 'run_2')];
  const before = readTree(two.path);
  const open = openSync(one.path, 'r');
  // As a sandbox of a worker that was not started with the others.
  const line = 'mount --bind "$0" /mnt && echo && exec sleep 60';
  const other = spawn('unshare', ['-m', 'sh', '-c', line, two.path], { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(other.stdout, 'data');
  const left = () => unmountTrees(t.dataDir, 2000);
  // A sandbox of another program has all mounts of the host while it starts.
  const soon = { timeout: 60_000 };
  expect(await left()).toBe(2);
  const ended = once(other, 'exit');
  other.kill('SIGKILL');
  await ended;
  await expect.poll(left, soon).toBe(1);
  expect([one, two].map(({ path }) => isMountPoint(path))).toEqual([true, false]);
  closeSync(open);
  await expect.poll(left, soon).toBe(0);
  await t.workspaces.locate({ runId: 'run_2', epoch: 1 });
  expect(readTree(two.path)).toEqual(before);
});

test('sandboxes of other programs that start one after the other keep no tree mounted', async () => {
  using t = layered();
  const { path } = await t.begin(t.source(files));
  await whileOthersStart(async () => {
    expect(await unmountTrees(t.dataDir, 10_000)).toBe(0);
    expect(isMountPoint(path)).toBe(false);
  });
});

test('maintenance unmounts an unused tree while other sandboxes start one after the other', async () => {
  using t = temporary({ layers: 'always', now: Date.now });
  const { path } = await t.begin(t.source(files));
  const deps = { dataDir: t.dataDir, isRoot: true, now: () => Date.now() + 2 * 3_600_000 };
  await whileOthersStart(async () => {
    await boundMounts(deps, { waitMs: 20_000 });
    expect(isMountPoint(path)).toBe(false);
  });
});

/** Each has all mounts of the host for a fifth of a second, so at every moment one has them. */
async function whileOthersStart(act: () => Promise<void>): Promise<void> {
  const line = 'while :; do unshare -m sh -c "echo; sleep 0.2" & sleep 0.05; done';
  const others = spawn('bash', ['-c', line], { stdio: ['ignore', 'pipe', 'ignore'], detached: true });
  const ended = once(others, 'exit');
  try {
    await once(others.stdout, 'data');
    await act();
  } finally {
    process.kill(-(others.pid ?? 0), 'SIGKILL');
    await ended;
  }
}

test('two processes that mount a tree at once get one mount', async () => {
  using t = layered();
  const { path } = await t.begin(t.source(files));
  unmountBelow(t.path);
  const locating = Array.from({ length: 4 }, () => t.reopen().locate({ runId, epoch: 1 }));
  await Promise.all(locating);
  const points = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  expect(points.filter((line) => line.includes(` ${path} `))).toHaveLength(1);
});

test('a layer that is lost makes the tree suspect, and a take-over builds it again', async () => {
  using t = layered();
  const { id, path } = await t.begin(t.source(files));
  const before = readTree(path);
  unmountBelow(t.path);
  rmSync(join(t.dataDir, 'layers'), { recursive: true });
  const state = await t.workspaces.inspect({ runId, epoch: 1, writer: '', snapshot: id, isShared: false });
  expect(state).toMatchObject({ status: 'lost', reason: 'tree_changed' });
  await t.workspaces.takeOver({ runId, epoch: 2, snapshot: id });
  expect(readTree((await t.workspaces.locate({ runId, epoch: 2 })).path)).toEqual(before);
});

test('a layer of an earlier boot is used only when it was synced', async () => {
  using t = layered();
  const source = t.source(files);
  const { id } = await t.begin(source);
  unmountBelow(t.path);
  const [layer = ''] = layersIn(t);
  writeFileSync(join(layer, 'files/a.txt'), 'torn');
  const rebooted = t.reopen({ bootId: 'another' });
  await rebooted.materialise({ runId: 'run_2', source: { type: 'directory', path: source } });
  const { path } = await rebooted.locate({ runId: 'run_2', epoch: 1 });
  expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('a\n');
  expect(await rebooted.inspect({ runId, epoch: 1, writer: '', snapshot: id, isShared: false })).toMatchObject({
    reason: 'other_boot',
  });
  await rebooted.tidy({ isKnown: () => Promise.resolve(true) });
  const again = t.reopen({ bootId: 'third' });
  const [inode] = layersIn(t).map((at) => statSync(at).ino);
  await again.materialise({ runId: 'run_3', source: { type: 'directory', path: source } });
  expect(layersIn(t).map((at) => statSync(at).ino)).toEqual([inode]);
});

test('maintenance removes layers that no tree stands on, and unmounts unused trees', async () => {
  using t = temporary({ layers: 'always', limits: { layerBytes: 0 }, now: Date.now });
  const source = t.source(files);
  const { id, path } = await t.begin(source);
  const later = t.reopen({ now: () => Date.now() + 2 * 3_600_000 });
  await unmountedBy(later, path);
  expect(layersIn(t)).toHaveLength(1);
  expect((await t.snapshot(id)).files_changed).toBe(0);
  await t.workspaces.discard(runId);
  await later.tidy({ isKnown: () => Promise.resolve(true) });
  expect(layersIn(t)).toEqual([]);
});

test('a fork and a take-over stand on the layer of the source', async () => {
  using t = layered();
  const { id, path } = await t.begin(t.source(files));
  rmSync(join(path, 'lib/b.txt'));
  renameSync(join(path, 'other'), join(path, 'moved'));
  writeFileSync(join(path, 'a.txt'), 'changed\n');
  mkdirSync(join(path, 'lib/new'));
  chmodSync(join(path, 'lib/c.txt'), 0o600);
  const { id: changed } = await t.snapshot(id);
  const before = readTree(path);
  const made = await t.workspaces.fork({ runId: 'run_2', from: { runId, snapshot: changed } });
  const forked = await t.workspaces.locate({ runId: 'run_2', epoch: 1 });
  expect(readTree(forked.path)).toEqual(before);
  expect(statSync(join(forked.path, 'lib/c.txt')).mode & 0o777).toBe(0o600);
  expect(made).toMatchObject({ files: 6, bytes: bytesOf(before) });
  await t.workspaces.takeOver({ runId, epoch: 2, snapshot: changed });
  expect(readTree((await t.workspaces.locate({ runId, epoch: 2 })).path)).toEqual(before);
  expect(layersIn(t)).toHaveLength(1);
  for (const [run, epoch] of [[runId, 2] as const, ['run_2', 1] as const]) {
    const taken = await t.workspaces.snapshot({ runId: run, epoch, parent: changed, message: '' });
    expect(taken.id).toBe(changed);
  }
});

/** A sandbox of another program has all mounts of the host while it starts, so that a later round of maintenance unmounts the tree. */
async function unmountedBy(workspaces: Workspaces, path: string): Promise<void> {
  const tidied = async () => {
    await workspaces.tidy({ isKnown: () => Promise.resolve(true) });
    return isMountPoint(path);
  };
  await expect.poll(tidied, { timeout: 60_000 }).toBe(false);
}

const folders = ['lib', 'other', 'lib/deep', 'empty', 'fresh'];
const names = ['a.txt', 'lib/b.txt', 'lib/c.txt', 'other/b.txt', 'other/c.txt', 'lib/deep/d.txt', 'run', 'x', 'lib/x'];
const acts = fc.array(
  fc.oneof(
    fc.tuple(fc.constant('write' as const), fc.constantFrom(...names), fc.constantFrom('1', '2')),
    fc.tuple(fc.constant('remove' as const), fc.constantFrom(...names, ...folders), fc.constant('')),
    fc.tuple(fc.constant('folder' as const), fc.constantFrom(...folders, ...names), fc.constant('')),
    fc.tuple(
      fc.constant('rename' as const),
      fc.constantFrom(...folders, ...names),
      fc.constantFrom(...folders, 't', 'x'),
    ),
    fc.tuple(fc.constant('swap' as const), fc.constantFrom('lib', 'lib/deep'), fc.constantFrom('other', 'empty')),
    fc.tuple(fc.constant('mode' as const), fc.constantFrom(...names, ...folders), fc.constantFrom('700', '755', '600')),
    fc.tuple(fc.constant('link' as const), fc.constantFrom(...names), fc.constantFrom('x', 'lib/x', 'l')),
    fc.tuple(fc.constant('symlink' as const), fc.constantFrom(...names), fc.constantFrom('lib', 'l')),
    fc.tuple(fc.constant('snapshot' as const), fc.constant(''), fc.constant('')),
    fc.tuple(fc.constant('remount' as const), fc.constant(''), fc.constant('')),
  ),
  { maxLength: 12 },
);

/** Each act as a program would do it; one that cannot be done does nothing. */
function act(path: string, [verb, from, to]: [string, string, string]): void {
  const [source, target] = [join(path, from), join(path, to)];
  try {
    if (verb === 'write') writeFileSync(source, to);
    else if (verb === 'remove') rmSync(source, { recursive: true, force: true });
    else if (verb === 'folder') mkdirSync(source, { recursive: true });
    else if (verb === 'rename') renameSync(source, target);
    else if (verb === 'swap') {
      renameSync(source, join(path, 'swap'));
      renameSync(target, source);
      renameSync(join(path, 'swap'), target);
    } else if (verb === 'mode') chmodSync(source, Number.parseInt(to, 8));
    else if (verb === 'link') linkSync(source, target);
    else if (verb === 'symlink') symlinkSync(to, source);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    // No file system makes a hard link of a folder.
    if (verb === 'link' && code === 'EPERM') return;
    if (!/^(ENOENT|ENOTDIR|EISDIR|EEXIST|ENOTEMPTY|EINVAL|ELOOP|ERR_FS_EISDIR)$/.test(code)) throw error;
  }
}

test('every snapshot is what the tree holds, and a restore brings it back', async () => {
  await fc.assert(
    fc.asyncProperty(acts, async (all) => {
      using t = layered();
      const { id: base, path } = await t.begin(t.source(files));
      const taken = [{ id: base, tree: readTree(path) }];
      const take = async () => {
        const { id } = await t.snapshot(taken.at(-1)?.id ?? base);
        expect(filesOf(readTree(path))).toEqual(await stored(t, id));
        taken.push({ id, tree: readTree(path) });
      };
      for (const one of all) {
        if (one[0] === 'snapshot') await take();
        else if (one[0] === 'remount') {
          unmountBelow(t.path);
          await t.workspaces.locate({ runId, epoch: 1 });
        } else act(path, one);
      }
      await take();
      for (const { id, tree } of taken) {
        await t.workspaces.restore({ runId, epoch: 1, snapshot: id });
        expect(readTree(path)).toEqual(tree);
      }
      const last = taken.at(-1);
      await t.workspaces.takeOver({ runId, epoch: 2, snapshot: last?.id ?? base });
      expect(readTree((await t.workspaces.locate({ runId, epoch: 2 })).path)).toEqual(last?.tree);
    }),
    { numRuns: process.env.HOLDPOINT_CRASH === 'full' ? 100 : 4 },
  );
});

const layersIn = (t: Temporary): string[] => {
  const top = join(t.dataDir, 'layers');
  if (!existsSync(top)) return [];
  return readdirSync(top).flatMap((tenant) => readdirSync(join(top, tenant)).map((key) => join(top, tenant, key)));
};

const bytesOf = (tree: Record<string, string>): number =>
  Object.values(tree).reduce((sum, text) => sum + (/^(file|script) ([\s\S]*)$/.exec(text)?.[2]?.length ?? 0), 0);

/** Mode and blob of every file of a tree, as git names them. */
function filesOf(tree: Record<string, string>): string[] {
  return Object.entries(tree)
    .flatMap(([path, text]) => {
      const [, kind = '', content = ''] = /^(file|script|link) ([\s\S]*)$/.exec(text) ?? [];
      if (kind === '') return [];
      const mode = { file: '100644', script: '100755', link: '120000' }[kind];
      const bytes = Buffer.from(content, 'latin1');
      return [`${path} ${mode} ${createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')}`];
    })
    .sort();
}

async function stored(t: Temporary, snapshot: string): Promise<string[]> {
  const found = await t.workspaces.files({ runId, snapshot });
  return found.map(({ path, mode, oid }) => `${path} ${mode} ${oid}`).sort();
}
