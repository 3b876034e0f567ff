import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CreateRun, Task } from '@holdpoint/contract/wire';
import { beforeAll, expect, test } from 'vitest';
import { type AppProcess, finished, processesWith, until, useSystem } from '../harness/index.ts';

const system = useSystem({ workers: 0 });
let worker: AppProcess;
beforeAll(async () => {
  worker = await system.startWorker();
});

type Groups = NonNullable<CreateRun['plan']>['groups'];
const background = (command: string, name = 'bg') => ({
  name,
  tool: 'bash',
  args: { command, run_in_background: true },
});
const taskOf = (name: string) => ({ $from: name, pointer: '/task_id' });
const submit = async (...groups: Groups) => (await system.client.createRun({ plan: { groups } })).run.id;
const onlyTask = async (runId: string): Promise<Task> => {
  let found: Task | undefined;
  await until('the task is there', async () => {
    [found] = await system.client.listTasks(runId);
    return found?.status !== undefined && found.status !== 'queued';
  });
  return found as Task;
};
const result = async (runId: string, index: number) => {
  const step = (await system.client.listSteps(runId)).data[index];
  return system.client.getStep(step?.id ?? '');
};

test('a background command runs beside the steps, with cursors for its output', async () => {
  const command = 'echo one; echo problem >&2; until [ -e go ]; do sleep 0.02; done; echo two; echo made > made.txt';
  const run = await submit(
    { steps: [background(command)] },
    { steps: [{ tool: 'bash', args: { command: 'touch go' } }] },
    { steps: [{ tool: 'task_output', args: { task_id: taskOf('bg'), wait_s: 30, stdout_cursor: 4 } }] },
  );
  const task = await onlyTask(run);
  expect(await finished(system.client, run)).toMatchObject({ status: 'succeeded', open_tasks: 0 });
  expect((await result(run, 2)).result).toMatchObject({
    status: 'completed',
    exit_code: 0,
    stdout: { text: 'two\n', next_cursor: 8, total_bytes: 8, omitted_bytes: 0 },
    stderr: { text: 'problem\n' },
  });
  expect(await system.client.getTask(task.id)).toMatchObject({ status: 'completed', exit_code: 0 });
  expect(await system.client.readTaskOutput(task.id, { cursor: 4 })).toMatchObject({ text: 'two\n', next_cursor: 8 });
  expect((await system.client.diff(run)).files.map(({ path }) => path)).toEqual(['go', 'made.txt']);
});

test('kill_shell kills the whole process tree; a killed task has no exit code', async () => {
  const marker = `3${process.pid}17`;
  const run = await submit(
    { steps: [background(`trap "" TERM; setsid sleep ${marker} & sleep ${marker}`)] },
    { steps: [{ tool: 'bash', args: { command: 'sleep 0.3' } }] },
    { steps: [{ tool: 'kill_shell', args: { task_id: taskOf('bg') } }] },
  );
  expect(await finished(system.client, run)).toMatchObject({ status: 'succeeded' });
  expect(await processesWith(marker)).toEqual([]);
  expect((await result(run, 2)).result).toMatchObject({ status: 'killed', exit_code: null });
  expect(await onlyTask(run)).toMatchObject({ status: 'killed', exit_code: null, reason: { code: 'EKILLED' } });
});

test('the end of a run kills its background commands', async () => {
  const marker = `3${process.pid}18`;
  const run = await submit({ steps: [background(`sleep ${marker}`)] });
  expect(await finished(system.client, run)).toMatchObject({ status: 'succeeded', open_tasks: 0 });
  expect(await processesWith(marker)).toEqual([]);
  expect((await system.client.listTasks(run))[0]).toMatchObject({ status: 'killed', exit_code: null });
});

test('a sub-agent works on a copy, and a step merges its changes', async () => {
  const plan = [{ steps: [{ tool: 'write_file', args: { path: 'theirs.txt', content: 'theirs\n' } }] }];
  const source = { type: 'directory' as const, path: await system.directoryWith({}) };
  const groups: Groups = [
    { steps: [{ tool: 'write_file', args: { path: 'ours.txt', content: 'ours\n' } }] },
    { steps: [{ name: 'sub', tool: 'task', args: { description: 'write', plan } }] },
    { steps: [{ tool: 'write_file', args: { path: 'later.txt', content: 'later\n' } }] },
    { steps: [{ tool: 'task_merge', args: { task_id: taskOf('sub') } }] },
  ];
  const run = (await system.client.createRun({ plan: { groups }, workspace: { source } })).run.id;
  expect(await finished(system.client, run)).toMatchObject({ status: 'succeeded' });
  const [task] = await system.client.listTasks(run);
  expect(task).toMatchObject({ kind: 'agent', status: 'completed', child: { status: 'succeeded' } });
  const child = await system.client.getRun(task?.child?.run_id ?? '');
  expect(child.parent).toEqual({ run_id: run, task_id: task?.id });
  expect((await system.client.listFiles(child.id)).map(({ path }) => path)).toEqual(['ours.txt', 'theirs.txt']);
  expect((await system.client.listFiles(run)).map(({ path }) => path)).toEqual(['later.txt', 'ours.txt', 'theirs.txt']);
  await expect(system.client.publish(child.id)).rejects.toMatchObject({ code: 'run_not_publishable' });
});

test('cancelling a run cancels its sub-agents and background commands', async () => {
  const marker = `3${process.pid}19`;
  const plan = [{ steps: [{ tool: 'bash', args: { command: `touch begun; sleep ${marker}` } }] }];
  const run = await submit(
    { steps: [background(`sleep ${marker}`)] },
    { steps: [{ name: 'sub', tool: 'task', args: { description: 'sleep', plan } }] },
  );
  await until('both run', async () => {
    const begun = await system.client.listTasks(run);
    const child = begun[1]?.child?.run_id;
    return begun[0]?.status === 'running' && child !== undefined && existsSync(join(system.tree(child), 'begun'));
  });
  await system.client.cancelRun(run);
  expect(await finished(system.client, run)).toMatchObject({ status: 'canceled', open_tasks: 0 });
  expect(await processesWith(marker)).toEqual([]);
  const tasks = await system.client.listTasks(run);
  expect(tasks.map(({ status }) => status)).toEqual(['killed', 'killed']);
  expect(await system.client.getRun(tasks[1]?.child?.run_id ?? '')).toMatchObject({ status: 'canceled' });
});

test('a command that died with its worker is lost, and its partial files are gone', async () => {
  const run = await submit(
    { steps: [{ tool: 'bash', args: { command: 'echo kept > kept.txt' } }] },
    { steps: [background('echo half > half.txt; touch begun; sleep 1000')] },
    { steps: [{ tool: 'task_output', args: { task_id: taskOf('bg'), wait_s: 60 } }] },
    { steps: [{ tool: 'bash', args: { command: 'ls > seen.txt' } }] },
  );
  await until('the command runs', () => existsSync(join(system.tree(run), 'begun')));
  await worker.signal('SIGKILL');
  worker = await system.startWorker();
  expect(await finished(system.client, run)).toMatchObject({ status: 'succeeded' });
  expect(await onlyTask(run)).toMatchObject({ status: 'lost', exit_code: null, reason: { code: 'ETASKLOST' } });
  expect((await result(run, 2)).result).toMatchObject({ status: 'lost', exit_code: null });
  expect(await readFile(join(system.tree(run), 'seen.txt'), 'utf8')).toBe('kept.txt\nseen.txt\n');
  expect(await processesWith(system.folder(run))).toEqual([]);
});

test('a command whose worker gets SIGTERM is lost, and its reason says why', async () => {
  const run = await submit(
    { steps: [background('touch begun; sleep 1000')] },
    { steps: [{ tool: 'task_output', args: { task_id: taskOf('bg'), wait_s: 60 } }] },
  );
  await until('the command runs', () => existsSync(join(system.tree(run), 'begun')));
  await worker.signal('SIGTERM');
  worker = await system.startWorker();
  expect(await finished(system.client, run)).toMatchObject({ status: 'succeeded' });
  const task = await onlyTask(run);
  expect(task).toMatchObject({ status: 'lost', reason: { message: expect.stringContaining('shut down') } });
});
