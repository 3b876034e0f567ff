import { spawnSync } from 'node:child_process';
import { lutimesSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporary } from '../../fixtures/temporary-workspaces.ts';
import { withSourceLock } from './source-lock.ts';

const quiet = (dataDir: string, onPoint: (point: string) => void = () => {}) => ({ dataDir, onPoint });

/** Holds the lock of a source and leaves another link in its place: what an owner that is gone left behind. */
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

test('a lock goes with its work, also with one that failed', async () => {
  using t = temporary();
  const failing = withSourceLock(quiet(t.dataDir), '/source', () => Promise.reject(new Error('failed')));
  await expect(failing).rejects.toThrow('failed');
  expect(readdirSync(join(t.dataDir, 'locks'))).toEqual([]);
  await expect(withSourceLock(quiet(t.dataDir), '/source', async () => 'done')).resolves.toBe('done');
});

test('locks of different sources do not know each other', async () => {
  using t = temporary();
  const inner = () => withSourceLock(quiet(t.dataDir), '/other', async () => 'both');
  await expect(withSourceLock(quiet(t.dataDir), '/source', inner)).resolves.toBe('both');
});

test('work of one source is done one after the other', async () => {
  using t = temporary();
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

test.runIf(process.platform === 'linux')('a lock of a dead process is broken at once', async () => {
  using t = temporary();
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

test.runIf(process.platform === 'linux')('a process with the id of the dead one is not taken for it', async () => {
  using t = temporary();
  await leaveLock(t.dataDir, (target) => target.replace(/ \d+ \d+$/, ' 1 0'));
  await expect(withSourceLock(quiet(t.dataDir), '/source', async () => 'mine')).resolves.toBe('mine');
});

test.runIf(process.platform === 'linux')('a lock of another container holds while it is touched', async () => {
  using t = temporary();
  const lock = await leaveLock(t.dataDir, (target) => target.replace(/^\S+/, 'elsewhere:1'));
  const waiting = withSourceLock(
    quiet(t.dataDir, () => {
      // Only when it has been seen to hold is it made to look left behind.
      const long = new Date(Date.now() - 61_000);
      lutimesSync(lock, long, long);
    }),
    '/source',
    async () => readlinkSync(lock),
  );
  expect(await waiting).not.toContain('elsewhere');
});
