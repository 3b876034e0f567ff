import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test as plainTest } from 'vitest';
import { readTree, temporary } from '../../testing/index.ts';
import { askMounter, mounterProgram, requestLine } from './mounter.ts';
import { isMountPoint, unmountUnused } from './mounts.ts';
import { createSharing } from './sharing.ts';

const trial = temporary();
const reason = await createSharing({ setting: 'auto', dataDir: trial.dataDir }).reason();
trial[Symbol.dispose]();
const test = plainTest.skipIf(reason !== undefined);

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
const commandOf = (pid: number): string => readFileSync(`/proc/${pid}/cmdline`, 'utf8');
const mountersOf = (pid: number): number[] =>
  childrenOf(pid).filter((child) => commandOf(child).includes('mounter.pl'));

async function untilGone(pid: number): Promise<void> {
  for (;;) {
    try {
      if (commandOf(pid) === '') return;
    } catch {
      return;
    }
    await sleep(20);
  }
}

test('when the process that mounts is killed, the next mount starts another one', async () => {
  using t = temporary({ layers: 'always' });
  const source = t.source({ 'a.txt': 'a\n' });
  await t.begin(source);
  const [first = 0, ...others] = mountersOf(process.pid);
  expect(others).toEqual([]);
  process.kill(first, 'SIGKILL');
  await untilGone(first);
  // A request to a process that has just ended fails and is not repeated; its caller tries again.
  await askMounter('detach', []).catch(() => {});
  const { path } = await t.begin(source, 'run_2');
  expect(isMountPoint(path)).toBe(true);
  expect(readTree(path)).toEqual(readTree(source));
  const [second] = mountersOf(process.pid);
  expect(second).not.toBe(first);
});

test('a request that fails says what the kernel said', async () => {
  const refused = askMounter('umount', ['/holdpoint missing']);
  await expect(refused).rejects.toMatchObject({
    message: '/holdpoint missing: No such file or directory',
    isBusy: false,
  });
  const [one = 0] = mountersOf(process.pid);
  // The child answers before it ends, and the process that mounts removes its entry some time later.
  await expect.poll(() => childrenOf(one), { timeout: 10_000 }).toEqual([]);
});

test('the process that mounts ends with its worker, and alone keeps no program running', async () => {
  const module = JSON.stringify(new URL('mounter.ts', import.meta.url).href);
  const program = (more: string) =>
    `const { askMounter } = await import(${module}); await askMounter('detach', []); ${more}`;
  const start = (more: string) =>
    spawn(process.execPath, ['--input-type=module', '-e', program(more)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const worker = start("console.log('ready'); setInterval(() => {}, 1000);");
  await once(worker.stdout, 'data');
  const [mounter = 0] = mountersOf(worker.pid ?? 0);
  expect(mounter).toBeGreaterThan(0);
  worker.kill('SIGKILL');
  await untilGone(mounter);
  expect(await once(start(''), 'exit')).toEqual([0, null]);
});

test('a mount is free once the reply is there, although the process that replied still runs', async () => {
  using t = temporary({ layers: 'always' });
  const { path } = await t.begin(t.source({ 'a.txt': 'a\n' }));
  const two = join(dirname(path), 'two');
  mkdirSync(two);
  const slow = join(t.path, 'slow.pl');
  const end = 'POSIX::_exit(0);';
  writeFileSync(slow, readFileSync(mounterProgram, 'utf8').replaceAll(end, `sleep 2; ${end}`));
  const mounter = spawn('perl', [slow], { stdio: ['pipe', 'pipe', 'inherit'] });
  mounter.stdin.write(requestLine(1, 'move', [path, two]));
  expect(String(await once(mounter.stdout, 'data'))).toMatch(/^1 0 /);
  expect(childrenOf(mounter.pid ?? 0)).toHaveLength(1);
  await unmountUnused([two]);
  expect(isMountPoint(two)).toBe(false);
  const ended = once(mounter, 'exit');
  mounter.stdin.end();
  await ended;
});
