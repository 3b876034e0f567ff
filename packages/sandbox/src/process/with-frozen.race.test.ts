import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { identify } from '@holdpoint/process';
import { expect } from 'vitest';
import { openSandbox } from '../open-sandbox.ts';
import type { Sandbox, WorkspaceMount } from '../port.ts';
import { processesWith, until, useTestHost } from '../testing/host.ts';

const { host, test } = useTestHost({ spares: 0 });

function countIn({ path }: WorkspaceMount): number {
  return existsSync(join(path, 'count')) ? readFileSync(join(path, 'count')).length : 0;
}

/** Starts a labelled command that appends to the file `count` for ever. */
async function startCounting(workspace: WorkspaceMount, line = 'while :; do echo -n x >> count; done') {
  const stop = new AbortController();
  const running = host.run(workspace, line, { label: 'task_1', signal: stop.signal });
  const length = () => countIn(workspace);
  await until(() => length() > 10);
  return {
    length,
    async continues() {
      const now = length();
      await until(() => length() > now);
    },
    async stop() {
      stop.abort();
      return (await running).end;
    },
  };
}

/** Samples the length ten times. */
async function watchLength(length: () => number): Promise<Set<number>> {
  const lengths = new Set<number>();
  for (let sample = 0; sample < 10; sample++) {
    lengths.add(length());
    await delay(4);
  }
  return lengths;
}

const forkers = {
  'that forks for every write': 'while :; do (echo -n x >> count); done',
  'that replaces its process all the time':
    "perl -e 'while (1) { open F, qq(>>count); print F qq(x); close F; fork and exit }' & sleep 1000",
  'with many processes in separate sessions':
    'for i in {1..20}; do setsid bash -c "while :; do echo -n x >> count; sleep 0.01; done" & done; wait',
};
for (const [kind, line] of Object.entries(forkers)) {
  test(`a frozen command ${kind} does not write`, async ({ workspace }) => {
    const counting = await startCounting(workspace, line);
    for (let times = 0; times < 5; times++) {
      const lengths = await host.sandbox.withFrozen(workspace.id, () => watchLength(counting.length));
      expect(lengths.size).toBe(1);
      await counting.continues();
    }
    expect(await counting.stop()).toMatchObject({ status: 'killed' });
  });
}

test('a parent that waits in vfork does not delay the freeze', async ({ workspace, word }) => {
  // CLONE_VM | CLONE_VFORK | SIGCHLD
  const clone = `syscall(${process.arch === 'arm64' ? 220 : 56}, 0x4111, 0, 0, 0, 0)`;
  const stop = new AbortController();
  const running = host.run(workspace, `perl -e 'mkdir qq(up); ${clone}; sleep 1000' 3${word}`, {
    ...{ label: 'task_1', signal: stop.signal },
  });
  const stateOf = (pid: number) => /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1];
  const states = () => processesWith(`sleep 1000\x003${word}`).map(stateOf);
  await until(() => states().filter((state) => state === 'D').length === 1 && states().includes('S'));
  expect(await host.sandbox.withFrozen(workspace.id, async () => states())).toEqual(expect.arrayContaining(['D', 'T']));
  await until(() => !states().includes('T'));
  stop.abort();
  await running;
});

test('the last of overlapping actions thaws, also with several workers', async ({ workspace }) => {
  const counting = await startCounting(workspace);
  await using elsewhere = await openSandbox(host.options);
  const begin = async (sandbox: Sandbox) => {
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const over = sandbox.withFrozen(workspace.id, () => {
      begun.resolve();
      return gate.promise;
    });
    await begun.promise;
    return async () => {
      gate.resolve();
      await over;
    };
  };
  const ends = [await begin(host.sandbox), await begin(elsewhere), await begin(host.sandbox)];
  const before = counting.length();
  await ends[0]?.();
  expect(await watchLength(counting.length)).toEqual(new Set([before]));
  await ends[1]?.();
  expect(await watchLength(counting.length)).toEqual(new Set([before]));
  await ends[2]?.();
  await counting.continues();
  await counting.stop();
  expect(existsSync(join(host.stateDir, workspace.id))).toBe(false);
});

test('60 concurrent actions in two workers never see the command run', async ({ workspace }) => {
  const counting = await startCounting(workspace);
  await using elsewhere = await openSandbox(host.options);
  const acts = Array.from({ length: 60 }, async (_, index) => {
    await delay(index);
    return (index % 2 ? host.sandbox : elsewhere).withFrozen(workspace.id, async () => {
      const before = counting.length();
      await delay(index % 4);
      return counting.length() - before;
    });
  });
  expect(new Set(await Promise.all(acts))).toEqual(new Set([0]));
  await counting.continues();
  await counting.stop();
});

test('new labelled commands wait for the action, also for a failing one', async ({ workspace }) => {
  let started: Promise<unknown> | undefined;
  const failing = host.sandbox.withFrozen(workspace.id, async () => {
    started = host.run(workspace, 'touch begun', { label: 'task_1' });
    expect((await host.run(workspace, 'sleep 0.1; echo ok')).stdout.text).toBe('ok\n');
    expect(readdirSync(workspace.path)).toEqual([]);
    throw new Error('failed');
  });
  await expect(failing).rejects.toThrow('failed');
  expect(await started).toMatchObject({ end: { status: 'exited', exit_code: 0 } });
  expect(readdirSync(workspace.path)).toEqual(['begun']);
  expect(existsSync(join(host.stateDir, workspace.id))).toBe(false);
});

test('kill ends frozen and waiting commands', async ({ workspace, word }) => {
  const running = host.run(workspace, `touch up; sleep 3${word}`, { label: 'task_1' });
  await until(() => existsSync(join(workspace.path, 'up')));
  await host.sandbox.withFrozen(workspace.id, async () => {
    const waiting = host.run(workspace, `sleep 3${word}`, { label: 'task_2' });
    const recorded = () => readdirSync(join(host.stateDir, workspace.id)).filter((name) => name.endsWith('.json'));
    await until(() => recorded().length === 2);
    const pids = recorded().map((name) => Number.parseInt(name, 10));
    expect(pids.map((pid) => identify(pid)?.pid)).toEqual(pids);
    await host.sandbox.kill(workspace.id, 'task_1');
    await host.sandbox.kill(workspace.id, 'task_2');
    expect(processesWith(word)).toEqual([]);
    expect(pids.map(identify)).toEqual([null, null]);
    expect((await waiting).end).toMatchObject({ status: 'killed' });
  });
  expect((await running).end).toMatchObject({ status: 'killed' });
});

/** A worker whose action never ends. */
async function startFreezing(workspace: WorkspaceMount) {
  const program = `
    import { openSandbox } from ${JSON.stringify(new URL('../open-sandbox.ts', import.meta.url).href)};
    const [options, id] = process.argv.slice(1).map((text) => JSON.parse(text));
    const sandbox = await openSandbox(options);
    await sandbox.withFrozen(id, async () => {
      process.stdout.write('frozen');
      await new Promise(() => setInterval(() => {}, 1000));
    });
  `;
  const args = [host.options, workspace.id].map((value) => JSON.stringify(value));
  const worker = spawn(process.execPath, ['--input-type=module', '-e', program, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(worker.stdout, 'data');
  return worker;
}

test('the running worker thaws commands that a dead worker froze', async ({ workspace }) => {
  const counting = await startCounting(workspace);
  const worker = await startFreezing(workspace);
  expect((await watchLength(counting.length)).size).toBe(1);
  worker.kill('SIGKILL');
  await once(worker, 'exit');
  // A command that begins now reads the dead worker's lock. It must not remove the lock.
  expect((await host.run(workspace, 'echo ok', { label: 'task_2' })).stdout.text).toBe('ok\n');
  await counting.continues();
  await counting.stop();
  expect(existsSync(join(host.stateDir, workspace.id))).toBe(false);
});

test('the action gets the number of frozen commands', async ({ workspace }) => {
  const numbers: number[] = [];
  await host.sandbox.withFrozen(workspace.id, async (frozen) => void numbers.push(frozen));
  const counting = await startCounting(workspace);
  await host.sandbox.withFrozen(workspace.id, async (frozen) => {
    numbers.push(frozen);
    await host.sandbox.withFrozen(workspace.id, async (inner) => void numbers.push(inner));
    const length = counting.length();
    expect((await watchLength(counting.length)).size).toBe(1);
    expect(counting.length()).toBe(length);
  });
  await counting.continues();
  await counting.stop();
  expect(numbers).toEqual([0, 1, 1]);
});

test('after killAll no command waits for a stopped worker', async ({ workspace }) => {
  const worker = await startFreezing(workspace);
  worker.kill('SIGSTOP');
  await host.sandbox.killAll(workspace.id);
  expect((await host.run(workspace, 'echo ok', { label: 'task_2' })).stdout.text).toBe('ok\n');
  worker.kill('SIGKILL');
  await once(worker, 'exit');
});

test('without isolation withFrozen stops the process group', async ({ workspace }) => {
  const options = { ...host.options, stateDir: join(host.directory, 'bare'), path: '/nowhere', bwrapPath: [] };
  await using bare = await openSandbox({ ...options, allowUnsandboxed: true });
  expect(bare.capabilities.driver).toBe('none');
  const stop = new AbortController();
  const running = bare.run({
    ...{ workspace, label: 'task_1', signal: stop.signal },
    argv: ['/bin/bash', '-c', 'while :; do (echo -n x >> count); done'],
  });
  const length = () => countIn(workspace);
  await until(() => length() > 10);
  const lengths = await bare.withFrozen(workspace.id, () => watchLength(length));
  expect(lengths.size).toBe(1);
  await until(() => length() > Math.max(...lengths));
  stop.abort();
  expect((await running).end).toMatchObject({ status: 'killed' });
});
