import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { withFileLock } from './file-lock.ts';

const directory = mkdtempSync(join(tmpdir(), 'holdpoint-file-lock-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const { signal: never } = new AbortController();

const program = `
  const { withFileLock } = await import(process.argv[1]);
  await withFileLock({ path: process.argv[2], signal: new AbortController().signal }, async () => {
    process.stdout.write('held');
    await new Promise(() => setInterval(() => {}, 1000));
  });`;

/** A process that holds the lock until its end. */
async function hold(path: string) {
  const module = import.meta.resolve('./file-lock.ts');
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, module, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
}

test('of many at once one works, also within a process', async () => {
  const path = join(directory, 'many');
  let inside = 0;
  const most: number[] = [];
  const work = async () => {
    most.push(++inside);
    await new Promise((resolve) => setImmediate(resolve));
    inside--;
  };
  await Promise.all(Array.from({ length: 8 }, () => withFileLock({ path, signal: never }, work)));
  expect(most).toEqual(Array(8).fill(1));
});

test('the signal ends a wait with its reason, and a killed owner leaves no lock', async () => {
  const path = join(directory, 'killed');
  const owner = await hold(path);
  const controller = new AbortController();
  let worked = false;
  const waiting = withFileLock({ path, signal: controller.signal }, async () => {
    worked = true;
  });
  controller.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  expect(worked).toBe(false);
  owner.kill('SIGKILL');
  expect(await withFileLock({ path, signal: never }, async () => 'mine')).toBe('mine');
});

test('an error of the work is passed on, and the lock is free', async () => {
  const path = join(directory, 'failing');
  const failing = withFileLock({ path, signal: never }, () => Promise.reject(new Error('broken')));
  await expect(failing).rejects.toThrow('broken');
  expect(await withFileLock({ path, signal: never }, async () => 'mine')).toBe('mine');
});
