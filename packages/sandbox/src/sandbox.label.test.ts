import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSandbox } from './open-sandbox.ts';
import { marker, openTestHost, processesWith, type TestHost, until } from './test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await openTestHost();
});
afterAll(() => host[Symbol.asyncDispose]());

test('output goes where it is wanted as it comes, in order, and does not end the command by its size', async () => {
  const chunks: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] };
  const output = {
    write: (stream: 'stdout' | 'stderr', chunk: Buffer) => void chunks[stream].push(Buffer.from(chunk)),
  };
  const line = 'for i in {1..20000}; do echo $i; done; echo problem >&2';
  const { end, stdout, stderr } = await host.run(host.makeWorkspace(), line, {
    ...{ output, limits: { output_bytes: 1024 } },
  });
  expect(end).toEqual({ status: 'exited', exit_code: 0, signal: null });
  const printed = Buffer.concat(chunks.stdout).toString();
  expect(printed).toBe(`${Array.from({ length: 20_000 }, (_, index) => index + 1).join('\n')}\n`);
  expect(Buffer.concat(chunks.stderr).toString()).toBe('problem\n');
  expect(stdout).toEqual({ text: '', bytes: printed.length, truncated: false });
  expect(stderr).toEqual({ text: '', bytes: 8, truncated: false });
});

test('output that cannot be kept ends the command, and its error is told', async () => {
  const word = marker();
  const output = {
    write() {
      throw new Error('the disk is full');
    },
  };
  const running = host.run(host.makeWorkspace(), `echo begin; sleep 3${word}`, { output });
  await expect(running).rejects.toThrow('the disk is full');
  expect(processesWith(word)).toEqual([]);
});

test('kill ends the commands with a label, whoever started them, and no others', async () => {
  const workspace = host.makeWorkspace();
  const [one, other] = [marker(), marker()];
  const first = host.run(workspace, `setsid sleep 3${one} & sleep 3${one}`, { label: 'task_one' });
  const signal = new AbortController();
  const second = host.run(workspace, `sleep 3${other}`, { label: 'task_other', signal: signal.signal });
  await until(() => processesWith(one).length >= 2 && processesWith(other).length >= 1);
  await using elsewhere = await openSandbox(host.options);
  await elsewhere.kill(workspace.id, 'task_one');
  expect(processesWith(one)).toEqual([]);
  expect((await first).end).toMatchObject({ status: 'killed' });
  expect(processesWith(other)).not.toEqual([]);
  await elsewhere.kill(workspace.id, 'task_nobody');
  expect(processesWith(other)).not.toEqual([]);
  signal.abort();
  await second;
});

test('what is frozen does not write until the act is over, children that it keeps making included', async () => {
  const workspace = host.makeWorkspace();
  const place = join(workspace.path, 'count');
  const stop = new AbortController();
  const running = host.run(workspace, 'while :; do (echo -n x >> count); done', {
    label: 'task_1',
    signal: stop.signal,
  });
  await until(() => existsSync(place) && readFileSync(place).length > 10);
  const lengths: number[] = [];
  await host.sandbox.frozen(workspace.id, async () => {
    for (let look = 0; look < 10; look++) {
      lengths.push(readFileSync(place).length);
      await delay(10);
    }
  });
  expect(new Set(lengths).size).toBe(1);
  await until(() => readFileSync(place).length > (lengths[0] ?? 0) + 10);
  stop.abort();
  expect((await running).end).toMatchObject({ status: 'killed' });
});

test('of two acts that overlap the first to end does not wake them', async () => {
  const workspace = host.makeWorkspace();
  const place = join(workspace.path, 'count');
  const stop = new AbortController();
  const running = host.run(workspace, 'while :; do echo -n x >> count; done', { label: 'task_1', signal: stop.signal });
  await until(() => existsSync(place) && readFileSync(place).length > 10);
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
  const first = host.sandbox.frozen(workspace.id, () => gates[0].promise);
  const second = host.sandbox.frozen(workspace.id, () => gates[1].promise);
  gates[0].resolve();
  await first;
  const before = readFileSync(place).length;
  await delay(50);
  expect(readFileSync(place).length).toBe(before);
  gates[1].resolve();
  await second;
  await until(() => readFileSync(place).length > before);
  stop.abort();
  await running;
});

test('commands without a label go on, an act that fails wakes them all the same, and a frozen one can be killed', async () => {
  const workspace = host.makeWorkspace();
  const word = marker();
  const running = host.run(workspace, `sleep 3${word}`, { label: 'task_1' });
  await until(() => processesWith(word).length > 0);
  const failing = host.sandbox.frozen(workspace.id, async () => {
    expect((await host.run(workspace, 'echo ok')).stdout.text).toBe('ok\n');
    throw new Error('failed');
  });
  await expect(failing).rejects.toThrow('failed');
  await host.sandbox.frozen(workspace.id, () => host.sandbox.kill(workspace.id, 'task_1'));
  expect(processesWith(word)).toEqual([]);
  expect((await running).end).toMatchObject({ status: 'killed' });
});

test('a command dies with the worker that started it, one that was stopped first included', async () => {
  const workspace = host.makeWorkspace();
  const word = marker();
  const program = `
    import { openSandbox } from ${JSON.stringify(new URL('open-sandbox.ts', import.meta.url).href)};
    const sandbox = await openSandbox(${JSON.stringify(host.options)});
    await sandbox.run({ workspace: ${JSON.stringify(workspace)}, label: 'task_1', argv: ['/bin/bash', '-c', 'setsid sleep 3${word} & sleep 3${word}'], signal: new AbortController().signal });
  `;
  const worker = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'inherit' });
  await until(() => processesWith(word).length >= 2);
  worker.kill('SIGSTOP');
  await delay(50);
  worker.kill('SIGKILL');
  await once(worker, 'exit');
  await until(() => processesWith(word).length === 0);
});
