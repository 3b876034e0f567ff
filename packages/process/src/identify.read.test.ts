import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { bootId, identify, isAlive, pidNamespace, pidScope } from './identify.ts';

test('a running process keeps its identity', () => {
  const self = identify(process.pid);
  expect(self).toEqual({ pid: process.pid, start: expect.any(Number) });
  expect(self && isAlive(self)).toBe(true);
  expect(identify(process.pid)).toEqual(self);
});

test('the same pid with another start time is another process', () => {
  const start = identify(process.pid)?.start ?? 0;
  expect(isAlive({ pid: process.pid, start: start + 1 })).toBe(false);
});

test('an ended process has no identity', async () => {
  const child = spawn('/bin/sleep', ['1000']);
  const identity = identify(child.pid ?? 0) ?? expect.fail('no identity');
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(identify(identity.pid)).toBeNull();
  expect(isAlive(identity)).toBe(false);
});

test.runIf(process.platform === 'linux')('a zombie has no identity, whatever the program is called', async () => {
  // bash starts a child, becomes sleep and never waits for the child: the child stays a zombie.
  const parent = spawn('/bin/bash', ['-c', '(exec -a "a ) Z name" sleep 0.01) & echo $!; exec sleep 1000']);
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  const child = Number(line.toString());
  await expect.poll(() => identify(child), { timeout: 60_000 }).toBeNull();
  expect(() => process.kill(child, 0)).not.toThrow();
  parent.kill('SIGKILL');
  await once(parent, 'exit');
});

test.runIf(process.platform === 'linux')('the scope names the boot and the pid namespace', () => {
  expect(bootId()).toMatch(/^[0-9a-f-]{36}$/);
  expect(pidNamespace()).toMatch(/^\d+$/);
  expect(pidScope()).toBe(`${bootId()}:${pidNamespace()}`);
});
