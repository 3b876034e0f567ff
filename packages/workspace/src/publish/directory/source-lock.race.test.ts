import { spawnSync } from 'node:child_process';
import { lutimesSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { test } from '../../testing/fixture.ts';
import { withSourceLock } from './publish-directory.ts';

const quiet = (dataDir: string, onPoint: (point: string) => void = () => {}) => ({ dataDir, onPoint });

/** Leaves the lock of a source behind, as a dead owner would. */
async function leaveLock(dataDir: string, change: (target: string) => string): Promise<string> {
  const folder = join(dataDir, 'locks');
  let name = '';
  let target = '';
  await withSourceLock(quiet(dataDir), '/source', async () => {
    name = readdirSync(folder)[0] ?? '';
    target = readlinkSync(join(folder, name));
  });
  expect(readdirSync(folder)).toEqual([]);
  symlinkSync(change(target), join(folder, name));
  return join(folder, name);
}

test('a lock is released after its work, also after a failure', async ({ t }) => {
  const failing = withSourceLock(quiet(t.dataDir), '/source', () => Promise.reject(new Error('failed')));
  await expect(failing).rejects.toThrow('failed');
  expect(readdirSync(join(t.dataDir, 'locks'))).toEqual([]);
  await expect(withSourceLock(quiet(t.dataDir), '/source', async () => 'done')).resolves.toBe('done');
});

test('locks of different sources are independent', async ({ t }) => {
  const inner = () => withSourceLock(quiet(t.dataDir), '/other', async () => 'both');
  await expect(withSourceLock(quiet(t.dataDir), '/source', inner)).resolves.toBe('both');
});

test('work on one source is serialised', async ({ t }) => {
  mkdirSync(t.dataDir, { recursive: true });
  let inside = 0;
  const most: number[] = [];
  const work = async () => {
    inside += 1;
    most.push(inside);
    await Promise.resolve();
    inside -= 1;
  };
  await Promise.all(Array.from({ length: 8 }, () => withSourceLock(quiet(t.dataDir), '/source', work)));
  expect(most).toEqual(Array.from({ length: 8 }, () => 1));
});

test.runIf(process.platform === 'linux')('a lock of a dead process is broken at once', async ({ t }) => {
  const { pid } = spawnSync('true');
  await leaveLock(t.dataDir, (target) => target.replace(/ \d+ \d+ \d+$/, ` ${pid} 1 0`));
  const waits: string[] = [];
  await withSourceLock(
    quiet(t.dataDir, (point) => waits.push(point)),
    '/source',
    async () => {},
  );
  expect(waits).toEqual([]);
});

test.runIf(process.platform === 'linux')(
  'a process that reuses the pid of a dead owner is not the owner',
  async ({ t }) => {
    await leaveLock(t.dataDir, (target) => target.replace(/ \d+ \d+$/, ' 1 0'));
    await expect(withSourceLock(quiet(t.dataDir), '/source', async () => 'mine')).resolves.toBe('mine');
  },
);

test.runIf(process.platform === 'linux')('a lock of another container holds until it is stale', async ({ t }) => {
  const lock = await leaveLock(t.dataDir, (target) => target.replace(/^\S+/, 'elsewhere:1'));
  const waiting = withSourceLock(
    quiet(t.dataDir, () => {
      // Make the lock stale only after a waiter has seen it hold.
      const long = new Date(Date.now() - 61_000);
      lutimesSync(lock, long, long);
    }),
    '/source',
    async () => readlinkSync(lock),
  );
  expect(await waiting).not.toContain('elsewhere');
});
