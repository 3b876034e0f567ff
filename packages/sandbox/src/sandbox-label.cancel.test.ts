import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { bootId, identify } from '@holdpoint/process';
import { expect } from 'vitest';
import { resolveLimits } from './limits.ts';
import { openSandbox } from './open-sandbox.ts';
import type { WorkspaceMount } from './port.ts';
import { ProcessRecords } from './process/index.ts';
import { marker, openTestDriver, processesWith, until, useTestHost } from './testing/host.ts';

const { host, test } = useTestHost();

test('the output writer gets all chunks in order, without a size limit', async () => {
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

test('a failed set-up gives its reason, also with an output writer', async () => {
  const running = host.run(host.makeWorkspace(), 'true', { cwd: 'nowhere', output: { write() {} } });
  await expect(running).rejects.toMatchObject({ code: 'ECOMMANDINVALID', message: expect.stringContaining('nowhere') });
});

test('a failing output writer ends the command, and run throws its error', async ({ word }) => {
  const output = {
    write() {
      throw new Error('the disk is full');
    },
  };
  const running = host.run(host.makeWorkspace(), `echo begin; sleep 3${word}`, { output });
  await expect(running).rejects.toThrow('the disk is full');
  expect(processesWith(word)).toEqual([]);
});

test('kill ends only the commands with the label, whichever worker runs them', async ({ workspace }) => {
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
  await elsewhere.kill(workspace.id, 'task_unknown');
  expect(processesWith(other)).not.toEqual([]);
  signal.abort();
  await second;
});

test('kill at any moment of the set-up leaves no process', async ({ workspace, word }) => {
  const running = Array.from({ length: 20 }, (_, index) =>
    host.run(workspace, `sleep 3${word}`, { label: `task_${index}` }),
  );
  await Promise.all(
    running.map(async (_, index) => {
      await delay(index);
      await host.sandbox.kill(workspace.id, `task_${index}`);
    }),
  );
  for (const { end } of await Promise.all(running)) expect(end).toMatchObject({ status: 'killed' });
  expect(processesWith(word)).toEqual([]);
});

test('only killAll finds a record without a label', async () => {
  const unlabelled = spawn('/bin/sleep', ['1000']);
  const identity = identify(unlabelled.pid ?? 0) ?? expect.fail();
  const records = join(host.stateDir, 'run_unlabelled');
  mkdirSync(records, { recursive: true });
  const boot = bootId();
  const record = join(records, `${identity.pid}-${identity.start}.json`);
  writeFileSync(record, JSON.stringify({ boot, processes: [identity] }));
  await host.sandbox.kill('run_unlabelled', 'task_1');
  expect(identify(identity.pid)).toEqual(identity);
  await host.sandbox.killAll('run_unlabelled');
  expect(identify(identity.pid)).toBeNull();
});

/** Lets another worker kill between the spawn and the record. A worker may be stopped there for an hour. */
class LateRecords extends ProcessRecords {
  beforeWrite = () => {};
  override write(...args: Parameters<ProcessRecords['write']>): boolean {
    this.beforeWrite();
    this.beforeWrite = () => {};
    return super.write(...args);
  }
}

test('the last whole line of a record counts, and no record comes back after a claim', async () => {
  const records = new ProcessRecords(host.stateDir);
  const first = { pid: process.pid, start: 1 };
  const second = { pid: process.pid, start: 2 };
  const directory = join(host.stateDir, 'run_lines');
  const { announcement } = records.announced(
    { workspace: { id: 'run_lines' } as WorkspaceMount, label: null },
    () => {},
  );
  expect(records.write('run_lines', { first, label: null, announcement })).toBe(true);
  expect(records.labelled('run_lines')).toEqual([]);
  expect(records.update('run_lines', [first, second], 'task_1')).toBe(true);
  appendFileSync(join(directory, `${first.pid}-1.json`), '{"boot":"');
  expect(records.labelled('run_lines')).toEqual([[first, second]]);
  expect(records.claim('run_lines', 'task_2')).toEqual([]);
  expect(records.claim('run_lines', 'task_1')).toEqual([[first, second]]);
  expect(records.update('run_lines', [first], null)).toBe(false);
  expect(readdirSync(directory)).toEqual([`${first.pid}-1.killed`]);
  expect(records.remove('run_lines', first)).toEqual({ killed: true });
  expect(existsSync(directory)).toBe(false);
});

test('a command that was not recorded at killAll never begins', async ({ workspace }) => {
  const stateDir = join(host.directory, 'late-state');
  const records = new LateRecords(stateDir);
  const driver = openTestDriver(stateDir, null, records);
  const others = new ProcessRecords(stateDir);
  const start = (label: string) => {
    const tree = driver.start({
      ...{ workspace, label, cwd: '.', env: {}, egress: null, stdin: null, hostFiles: null },
      ...{ argv: ['/bin/bash', '-c', `touch ran-${label}`], limits: resolveLimits() },
    });
    for (const stream of [tree.stdout, tree.stderr]) stream.on('error', () => {}).resume();
    return tree.ended;
  };
  records.beforeWrite = () => others.claim(workspace.id);
  expect(await start('all')).toEqual({ status: 'taken_over' });
  records.beforeWrite = () => others.claim(workspace.id, 'one');
  expect(await start('one')).toEqual({ status: 'taken_over' });
  records.beforeWrite = () => others.claim(workspace.id, 'other');
  expect(await start('mine')).toMatchObject({ status: 'exited', exit_code: 0 });
  expect(readdirSync(workspace.path)).toEqual(['ran-mine']);
  expect(existsSync(join(stateDir, workspace.id))).toBe(false);
  await driver.release();
});

/** A separate worker process that runs the line and prints its end. */
function startWorker(workspace: WorkspaceMount, line: string) {
  const program = `
    import { openSandbox } from ${JSON.stringify(new URL('open-sandbox.ts', import.meta.url).href)};
    const [options, workspace, line] = process.argv.slice(1).map((text) => JSON.parse(text));
    const sandbox = await openSandbox(options);
    const command = { workspace, label: 'task_1', argv: ['/bin/bash', '-c', line], signal: new AbortController().signal };
    process.stdout.write(JSON.stringify((await sandbox.run(command)).end));
  `;
  const args = [host.options, workspace, line].map((value) => JSON.stringify(value));
  return spawn(process.execPath, ['--input-type=module', '-e', program, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

const isStopped = (pid: number) => / T /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));

test('another worker can kill the command of a stopped worker', async ({ workspace, word }) => {
  const worker = startWorker(workspace, `setsid sleep 3${word} & touch up; sleep 3${word}`);
  const printed = text(worker.stdout);
  await until(() => existsSync(join(workspace.path, 'up')));
  worker.kill('SIGSTOP');
  await until(() => isStopped(worker.pid ?? 0));
  await host.sandbox.killAll(workspace.id);
  expect(processesWith(`sleep\x003${word}`)).toEqual([]);
  worker.kill('SIGCONT');
  expect(JSON.parse(await printed)).toMatchObject({ status: 'killed' });
});

test('a command dies with its worker, even with a stopped one', async ({ workspace, word }) => {
  const worker = startWorker(workspace, `setsid sleep 3${word} & touch up; sleep 3${word}`);
  await until(() => existsSync(join(workspace.path, 'up')));
  worker.kill('SIGSTOP');
  await until(() => isStopped(worker.pid ?? 0));
  await until(() => processesWith(`sleep\x003${word}`).length > 0);
  worker.kill('SIGKILL');
  await once(worker, 'exit');
  await until(() => processesWith(word).length === 0);
});
