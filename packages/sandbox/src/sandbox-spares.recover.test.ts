import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { openSandbox } from './open-sandbox.ts';
import { isRoot, projectRoot, runLine, until, useTestHost } from './testing/host.ts';
import type { WorkspaceMount } from './tree.ts';

const { host, test } = useTestHost();

/** Processes that a record of the workspace names: bubblewrap and the first process. */
function recorded({ id }: WorkspaceMount): number[] {
  const directory = join(host.stateDir, id);
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => {
      const last = readFileSync(join(directory, name), 'utf8').trimEnd().split('\n').at(-1) ?? '';
      const { processes } = JSON.parse(last) as { processes: { pid: number }[] };
      return processes.map(({ pid }) => pid);
    });
}

const runs = (pid: number): boolean => existsSync(`/proc/${pid}/exe`);

/** First processes whose sandbox is set up: before that they are a fork of bubblewrap, which may still look for its working directory. */
const setUp = (workspace: WorkspaceMount): number[] =>
  recorded(workspace).filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('/bin/bash\0'));

/** Runs a first command, and waits until the spare that it leaves is complete. */
async function withSpare(workspace: WorkspaceMount): Promise<number[]> {
  expect(await host.run(workspace, 'true')).toMatchObject({ end: { exit_code: 0 } });
  await until(() => recorded(workspace).length === 2);
  return recorded(workspace);
}

/** Whether the next command of the workspace gets a spare. */
async function isUsed(workspace: WorkspaceMount, line = 'true', more = {}): Promise<boolean> {
  const { used } = host.sandbox.spares;
  const result = await host.run(workspace, line, more);
  expect(result.end).toMatchObject({ status: 'exited', exit_code: 0 });
  return host.sandbox.spares.used > used;
}

test('the next command of a workspace gets a spare, once each', async ({ workspace }) => {
  const first = await withSpare(workspace);
  const result = await host.run(workspace, 'echo "$$ $WORD"; ps -e | wc -l; ls /tmp; touch /tmp/left made', {
    env: { WORD: 'given' },
  });
  expect(result.stdout.text).toMatch(/^\d+ given\n/);
  expect(existsSync(join(workspace.path, 'made'))).toBe(true);
  expect(first.some(runs)).toBe(false);
  expect((await host.run(workspace, 'ls /tmp')).stdout.text).toBe('');
});

test('a spare sees what changed in its workspace since', async ({ workspace }) => {
  await withSpare(workspace);
  mkdirSync(join(workspace.path, 'later'));
  expect(await isUsed(workspace, 'test -d later')).toBe(true);
});

test('a spare of other limits, another folder or another tree is dropped', async ({ workspace }) => {
  let old = await withSpare(workspace);
  expect(await isUsed(workspace, 'true', { limits: { memory_bytes: 2 ** 28 } })).toBe(false);
  await until(() => !old.some(runs));
  mkdirSync(join(workspace.path, 'sub'), { mode: 0o777 });
  old = await withSpare(workspace);
  expect(await isUsed(workspace, 'true', { cwd: 'sub' })).toBe(false);
  await until(() => !old.some(runs));
  old = await withSpare(workspace);
  expect(await isUsed({ ...workspace, readOnly: true })).toBe(false);
  await until(() => !old.some(runs));
  old = await withSpare(workspace);
  const copy = host.makeWorkspace();
  renameSync(workspace.path, `${workspace.path}-old`);
  renameSync(copy.path, workspace.path);
  if (!isRoot) expect(await isUsed(workspace)).toBe(false);
  else expect(await isUsed({ ...workspace, uid: copy.uid, gid: copy.gid })).toBe(false);
  await until(() => !old.some(runs));
});

test('a command that only reads gets a sealed spare of exactly its programs', async ({ workspace }) => {
  const line = 'cat keep; >new; ls; for one in /usr/bin/*; do echo "$one"; done';
  writeFileSync(join(workspace.path, 'keep'), 'kept\n', { mode: 0o644 });
  const read = (...only: string[]) => isUsed(workspace, line, { only });
  expect([await read('cat'), await read('cat'), await read('cat', 'ls'), await read('ls', 'cat')]).toEqual([
    ...[false, true, false, true],
  ]);
  const { used } = host.sandbox.spares;
  const result = await host.run(workspace, line, { only: ['cat'] });
  expect(host.sandbox.spares.used).toBe(used + 1);
  expect(result.stdout.text).toBe('kept\n/usr/bin/bash\n/usr/bin/cat\n/usr/bin/sh\n');
  expect(result.stderr.text).toContain('Read-only file system');
  expect(readdirSync(workspace.path)).toEqual(['keep']);
});

test('a spare for reading is none for writing, and both wait', async ({ workspace }) => {
  await withSpare(workspace);
  expect(await isUsed(workspace, 'true', { only: ['cat'] })).toBe(false);
  expect(await isUsed(workspace, 'touch made')).toBe(true);
  expect(await isUsed(workspace, 'true', { only: ['cat'] })).toBe(true);
  expect(readdirSync(workspace.path)).toEqual(['made']);
  await host.sandbox.killAll(workspace.id);
  expect(recorded(workspace).some(runs)).toBe(false);
});

test('killAll ends a spare, and the next command starts without it', async ({ workspace }) => {
  const spare = await withSpare(workspace);
  await host.sandbox.killAll(workspace.id);
  expect(spare.some(runs)).toBe(false);
  expect(existsSync(join(host.stateDir, workspace.id))).toBe(false);
  expect(await isUsed(workspace)).toBe(false);
});

test('the next spare is ready while a command runs, and fits whatever the command writes', async ({ workspace }) => {
  const running = host.run(workspace, 'touch up written; until [[ -e go ]]; do sleep 0.01; done; rm up go');
  await until(() => existsSync(join(workspace.path, 'up')) && recorded(workspace).length === 4);
  const both = recorded(workspace);
  writeFileSync(join(workspace.path, 'go'), '');
  expect((await running).end).toMatchObject({ exit_code: 0 });
  expect(await isUsed(workspace, 'test -e written')).toBe(true);
  await until(() => !both.some(runs));
});

test('a spare whose folder was replaced by the command before is dropped', async ({ workspace }) => {
  mkdirSync(join(workspace.path, 'sub'), { mode: 0o777 });
  chownSync(join(workspace.path, 'sub'), workspace.uid, workspace.gid);
  const held = 'until [[ -e go ]]; do sleep 0.01; done; mv /workspace/sub /workspace/old; mkdir /workspace/sub';
  const running = host.run(workspace, held, { cwd: 'sub' });
  await until(() => setUp(workspace).length === 2);
  writeFileSync(join(workspace.path, 'sub/go'), '');
  expect((await running).end).toMatchObject({ exit_code: 0 });
  expect(await isUsed(workspace, 'touch here', { cwd: 'sub' })).toBe(false);
  expect(existsSync(join(workspace.path, 'sub/here'))).toBe(true);
});

test.for(['killAll', 'an abort'] as const)('a command that %s ended leaves no spare', async (how, { workspace }) => {
  const abort = new AbortController();
  const running = host.run(workspace, 'touch up; sleep 1000', { signal: abort.signal });
  await until(() => existsSync(join(workspace.path, 'up')) && recorded(workspace).length === 4);
  const both = recorded(workspace);
  if (how === 'killAll') await host.sandbox.killAll(workspace.id);
  else abort.abort();
  await running;
  expect(both.some(runs)).toBe(false);
  expect(existsSync(join(host.stateDir, workspace.id))).toBe(false);
});

test('a spare that was killed or stopped from outside is no error of the command', async ({ workspace }) => {
  for (const signal of ['SIGKILL', 'SIGSTOP'] as const) {
    const spare = await withSpare(workspace);
    const [, first = 0] = spare;
    process.kill(first, signal);
    expect(await isUsed(workspace)).toBe(false);
    await until(() => !spare.some(runs));
  }
});

test('a spare is no frozen command, and begins only after the freeze', async ({ workspace }) => {
  await withSpare(workspace);
  const order: string[] = [];
  const held = Promise.withResolvers<void>();
  const freezing = host.sandbox.withFrozen(workspace.id, async (frozen) => {
    expect(frozen).toBe(0);
    await held.promise;
    order.push('thawed');
  });
  const running = host.run(workspace, 'true', { label: 'task_1', onBegun: () => order.push('begun') });
  await delay(50);
  held.resolve();
  await Promise.all([freezing, running]);
  expect(order).toEqual(['thawed', 'begun']);
});

test('a kill by label and a take-over find a command in a spare at every moment', async ({ workspace }) => {
  for (let round = 0; round < 12; round++) {
    await withSpare(workspace);
    const running = host.run(workspace, 'sleep 1000', { label: 'task_1' });
    for (let turn = 0; turn < round; turn++) await new Promise((resolve) => setImmediate(resolve));
    const kill = () =>
      round % 2 === 0 ? host.sandbox.killAll(workspace.id) : host.sandbox.kill(workspace.id, 'task_1');
    // The kill may come before the command was started at all.
    const ended = Promise.withResolvers<void>();
    void running.finally(() => ended.resolve());
    let over = false;
    void ended.promise.then(() => {
      over = true;
    });
    while (!over) {
      await kill();
      await Promise.race([ended.promise, delay(5)]);
    }
    expect((await running).end).toMatchObject({ status: 'killed' });
  }
});

test('spares are capped, end when they are idle, and with the sandbox', async () => {
  const stateDir = join(host.directory, 'few');
  const sandbox = await openSandbox({ ...host.options, stateDir, spares: 2, spareIdleMs: 3_600_000 });
  for (let index = 0; index < 3; index++) await runLine(sandbox, host.makeWorkspace(), 'true');
  await until(() => sandbox.spares.dropped === 1);
  expect(sandbox.spares).toEqual({ waiting: 2, used: 0, dropped: 1 });
  await sandbox[Symbol.asyncDispose]();
  expect(sandbox.spares.waiting).toBe(0);
  expect(readdirSync(stateDir)).not.toContainEqual(expect.stringMatching(/^run_/));
  await using brief = await openSandbox({ ...host.options, stateDir, spareIdleMs: 1 });
  await runLine(brief, host.makeWorkspace(), 'true');
  await until(() => brief.spares.dropped === 1);
});

test('a process ends although a spare with a network waits', async ({ workspace }) => {
  const program = `
    import { readdirSync, readlinkSync } from 'node:fs';
    import { setTimeout } from 'node:timers/promises';
    import { openSandbox } from ${JSON.stringify(new URL('open-sandbox.ts', import.meta.url).href)};
    const [options, workspace] = process.argv.slice(1).map((text) => JSON.parse(text));
    const isSocket = (name) => {
      try {
        return readlinkSync('/proc/self/fd/' + name).startsWith('socket:');
      } catch {
        return false; // closed since
      }
    };
    const sockets = () => readdirSync('/proc/self/fd').filter(isSocket).length;
    const sandbox = await openSandbox({ ...options, spareIdleMs: 3_600_000 });
    const egress = { environment: () => ({}), serve: (server) => () => server.close() };
    await sandbox.run({ workspace, argv: ['/bin/true'], signal: new AbortController().signal, egress });
    for (const before = sockets(); sockets() === before; ) await setTimeout(5);
    process.stdout.write(String(sandbox.spares.waiting));
  `;
  const args = [host.options, workspace].map((value) => JSON.stringify(value));
  const owner = spawn(process.execPath, ['--input-type=module', '-e', program, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: projectRoot,
  });
  onTestFinished(() => void owner.kill('SIGKILL'));
  const [[waiting], [code]] = await Promise.all([once(owner.stdout, 'data'), once(owner, 'exit')]);
  expect([String(waiting), code]).toEqual(['1', 0]);
});

/** A worker that runs one command, prints its own children, and waits. */
function startWorker(workspace: WorkspaceMount) {
  const program = `
    import { openSandbox } from ${JSON.stringify(new URL('open-sandbox.ts', import.meta.url).href)};
    const [options, workspace] = process.argv.slice(1).map((text) => JSON.parse(text));
    const sandbox = await openSandbox(options);
    await sandbox.run({ workspace, argv: ['/bin/true'], signal: new AbortController().signal });
    process.stdout.write(String(sandbox.spares.waiting));
    setInterval(() => {}, 1000);
  `;
  const args = [host.options, workspace].map((value) => JSON.stringify(value));
  return spawn(process.execPath, ['--input-type=module', '-e', program, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: projectRoot,
    env: { SECRET_OF_WORKER: 'hidden' },
  });
}

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean).map(Number);

test('spares and the starter die with a worker that is killed', async ({ workspace }) => {
  const worker = startWorker(workspace);
  expect((await once(worker.stdout, 'data')).join('')).toBe('1');
  await until(() => recorded(workspace).length === 2);
  const starters = childrenOf(worker.pid ?? 0);
  const all = [...starters, ...recorded(workspace)];
  expect(all.length).toBe(3);
  expect(readFileSync(`/proc/${starters[0]}/environ`, 'latin1')).not.toContain('hidden');
  worker.kill('SIGKILL');
  await until(() => !all.some(runs));
});

test('a starter that is killed fails the open commands, and the next one gets a new starter', async ({ workspace }) => {
  const other = host.makeWorkspace();
  await withSpare(other);
  const running = host.run(workspace, 'touch up; sleep 1000');
  await until(() => existsSync(join(workspace.path, 'up')));
  const [bwrap = 0] = recorded(workspace);
  const starter = Number(/^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${bwrap}/status`, 'latin1'))?.[1]);
  const before = [...recorded(workspace), ...recorded(other)];
  expect(starter).not.toBe(process.pid);
  process.kill(starter, 'SIGKILL');
  await expect(running).rejects.toMatchObject({ code: 'ESTARTERLOST', retryable: true });
  await until(() => !before.some(runs));
  expect(await isUsed(other)).toBe(false);
  expect(await isUsed(other)).toBe(true);
});
