import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, expect, test as plainTest } from 'vitest';
import { readTree, runId, temporary } from '../../testing/index.ts';
import { isMountPoint } from './mounts.ts';
import { unmountTrees } from './on-this-host.ts';
import { createSharing } from './sharing.ts';

const files = { 'a.txt': 'a\n', 'lib/b.txt': 'b\n', empty: null };

const trial = temporary();
const reason = await createSharing({ setting: 'auto', dataDir: trial.dataDir }).reason();
trial[Symbol.dispose]();
const test = plainTest.skipIf(reason !== undefined);

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

interface CopyOptions {
  /** Options of unshare. */
  options?: string[];
  /** What the namespace does first. */
  line?: string;
}

/**
 * Makes a mount namespace with a copy of the mounts of a test, as some sandboxes have it for as long as they run. It ends with the test.
 * The trees of other tests, which run at the same time, are not in it: one that a user of the host has made would keep them busy.
 */
async function copyMounts(
  { path }: { path: string },
  { options = ['-m'], line = ':' }: CopyOptions = {},
): Promise<{ files(path: string): string[] }> {
  // Another test may move its data directory, with mounted trees, between the look and the unmount.
  const others = `grep ' - overlay holdpoint ' /proc/self/mountinfo | cut -d ' ' -f 5 | grep -v '^${path}/'`;
  const leaveOthers = `while ${others} >/dev/null; do ${others} | xargs -r -n 1 umount -l 2>/dev/null; done`;
  const inNamespace = `${line} && echo && exec sleep 600`;
  const child = spawn(
    'unshare',
    ['-m', 'sh', '-c', `${leaveOthers}; exec unshare "$@"`, 'sh', ...options, 'sh', '-c', inNamespace],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const ended = once(child, 'exit');
  ends.push(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  await once(child.stdout, 'data');
  return { files: (path) => readdirSync(`/proc/${child.pid}/root${path}`) };
}

const mountsOf = (path: string): number =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => line.includes(` ${path} `)).length;

const layered = () => temporary({ layers: 'always' });

test('a tree that another namespace has a copy of is unmounted, and mounted again with what the run wrote', async () => {
  using t = layered();
  const { id, path } = await t.begin(t.source(files));
  writeFileSync(join(path, 'a.txt'), 'changed\n');
  const before = readTree(path);
  const copy = await copyMounts(t);
  expect(await unmountTrees(t.dataDir, 0)).toBe(0);
  expect(copy.files(path)).toContain('a.txt');
  await Promise.all(Array.from({ length: 3 }, () => t.reopen().locate({ runId, epoch: 1 })));
  expect(mountsOf(path)).toBe(1);
  expect(readTree(path)).toEqual(before);
  expect((await t.snapshot(id)).files_changed).toBe(1);
});

test('a tree that another namespace has a copy of is taken over, dropped, restored and discarded', async () => {
  using t = layered();
  const { id, path } = await t.begin(t.source(files));
  const before = readTree(path);
  await copyMounts(t);
  await t.workspaces.takeOver({ runId, epoch: 2, snapshot: id });
  const second = (await t.workspaces.locate({ runId, epoch: 2 })).path;
  expect(readTree(second)).toEqual(before);
  expect(existsSync(path)).toBe(false);
  await copyMounts(t);
  await t.workspaces.dropTree({ runId, epoch: 2 });
  expect(existsSync(second)).toBe(false);
  await t.workspaces.restore({ runId, epoch: 2, snapshot: id });
  expect(readTree(second)).toEqual(before);
  await copyMounts(t);
  await t.workspaces.discard(runId);
  expect(existsSync(dirname(dirname(second)))).toBe(false);
  expect(readdirSync(join(t.dataDir, 'discarding'))).toEqual([]);
  expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(t.path);
});

test('a data directory whose trees other namespaces have copies of can be removed once they are unmounted', async () => {
  using t = layered();
  const { path } = await t.begin(t.source(files));
  const copy = await copyMounts(t);
  expect(await unmountTrees(t.dataDir, 0)).toBe(0);
  rmSync(t.dataDir, { recursive: true });
  expect(() => copy.files(path)).toThrow(/ENOENT/);
});

test('a namespace that a user of the host has made is not believed: the tree is built again, as a plain folder', async () => {
  using t = layered();
  const source = t.source(files);
  const { id, path } = await t.begin(source);
  const before = readTree(path);
  // The first process has a copy and keeps the tree from being mounted; the second one offers other files at its place.
  await copyMounts(t, { options: ['-Urm'] });
  await copyMounts(t, { options: ['-Urm'], line: `mount -t tmpfs none ${path} && echo evil > ${path}/a.txt` });
  const look = { runId, epoch: 1, writer: '', snapshot: id, isShared: false };
  const lookUnmounted = async () => {
    expect(await unmountTrees(t.dataDir, 0)).toBe(0);
    return t.workspaces.inspect(look);
  };
  // A sandbox of another program has all mounts of the host while it starts, and may be believed.
  let found = await lookUnmounted();
  for (; found.status === 'sound'; found = await lookUnmounted()) expect(readTree(path)).toEqual(before);
  expect(found).toMatchObject({ status: 'lost', reason: 'tree_changed' });
  expect(mountsOf(path)).toBe(0);
  await t.workspaces.takeOver({ runId, epoch: 2, snapshot: id });
  const second = (await t.workspaces.locate({ runId, epoch: 2 })).path;
  expect(isMountPoint(second)).toBe(false);
  expect(readTree(second)).toEqual(before);
  expect(isMountPoint((await t.begin(source, 'run_2')).path)).toBe(true);
});
