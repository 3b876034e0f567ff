import type { Json, TaskView } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { createRegistry } from '../../registry.ts';
import { bareContext, noTasks } from '../../testing/bare-context.ts';
import type { ToolContext } from '../../tool.ts';
import { presentClemini } from './present.ts';
import { clemini } from './toolset.ts';

const registry = createRegistry([clemini]);
const times = { created_at: '', started_at: null, settled_at: '', queued_ms: 0, duration_ms: 1 };
const modes = { read_only: false, dry_run: false, deterministic: false };
const shell: TaskView = { id: 't1', kind: 'shell', title: 'make', status: 'running', created_at: '' };

interface Given {
  task?: TaskView;
  /** As it is after a kill. */
  killed?: TaskView;
  stdout?: string;
  stderr?: string;
  context?: Partial<ToolContext>;
}

function call(
  tool: string,
  args: object,
  { task = shell, killed = task, stdout = '', stderr = '', context }: Given = {},
) {
  const texts = { stdout: Buffer.from(stdout), stderr: Buffer.from(stderr) };
  const tasks: ToolContext['tasks'] = {
    ...noTasks,
    list: async () => [task],
    get: async (id) => (id === task.id ? task : undefined),
    kill: async (id) => (id === task.id ? killed : undefined),
    async output(_id, { stream, from, maxBytes }) {
      const all = texts[stream];
      const text = all.subarray(from, from + maxBytes).toString();
      return { text, from, next: from + maxBytes, total: all.length, omitted: 0 };
    },
  };
  return registry.execute({ toolset: 'clemini', tool, args, context: { ...bareContext(), tasks, ...context } });
}

async function result(tool: string, args: object, given?: Given): Promise<Json> {
  const outcome = await call(tool, args, given);
  if (outcome.status === 'deferred') throw new Error('it waits');
  const error = outcome.status === 'succeeded' ? undefined : outcome.error;
  const { status, value } = outcome;
  return presentClemini({ tool, args: args as Json, status, value: value as Json, error, times, settings: {}, modes });
}
const id = { task_id: 't1' };
const ended = (status: TaskView['status'], exit_code: number | null, message?: string): TaskView => ({
  ...shell,
  status,
  outcome: { exit_code, reason: message === undefined ? undefined : { code: 'EX', message } },
});
const failed = (error_code: string, error = /./) => ({ error_code, error: expect.stringMatching(error) });

// covers S3-80, S3-81, S3-82
// choices S3-A11
test('kill_shell ends a task, or says that it was over', async () => {
  const killed = { ...id, status: 'killed', success: true };
  const over = { ...id, status: 'already_completed', success: true };
  expect(await result('kill_shell', id, { killed: ended('killed', null) })).toEqual(killed);
  for (const status of ['completed', 'failed', 'killed', 'lost', 'timed_out'] as const) {
    expect(await result('kill_shell', id, { task: ended(status, null) })).toEqual(over);
  }
  // It ended by itself just before.
  expect(await result('kill_shell', id, { killed: ended('completed', 0) })).toEqual(over);
  expect(await result('kill_shell', id, { killed: shell })).toMatchObject(failed('IO_ERROR', /did not end within ten/));
  expect(await result('kill_shell', { task_id: 'nonexistent' })).toEqual({
    error: 'Task not found: nonexistent. Use one of: t1 (running: make).',
    error_code: 'NOT_FOUND',
    context: { reason: 'ENOTASK' },
  });
  for (const args of [{}, { task_id: '' }, { task_id: 1 }, { ...id, force: true }]) {
    expect(await result('kill_shell', args)).toMatchObject(failed('INVALID_ARGUMENT'));
  }
});

// covers S3-82, S3-85
test('task_output shows what a task has printed and how it ended', async () => {
  const output = (task: TaskView, given: Given = {}) => result('task_output', id, { ...given, task });
  expect(await output(shell, { stdout: 'start\n' })).toEqual({
    ...id,
    status: 'running',
    stdout: 'start\n',
    stderr: '',
  });
  expect(await output({ ...shell, status: 'capturing' })).toMatchObject({ status: 'running' });
  expect(await output({ ...shell, status: 'queued' })).toEqual({ ...id, status: 'running', stdout: '', stderr: '' });
  const done = { ...id, status: 'completed', exit_code: 0, stdout: 'a', stderr: 'b' };
  expect(await output(ended('completed', 0), { stdout: 'a', stderr: 'b' })).toEqual(done);
  // A command that failed by itself has completed.
  expect(await output(ended('failed', 2, 'exit code 2'))).toMatchObject({ status: 'completed', exit_code: 2 });
  expect(await output(ended('killed', null, 'by a person'))).toEqual({
    ...{ ...id, status: 'killed', stdout: '', stderr: '', reason: 'by a person' },
  });
  expect(await output(ended('timed_out', null, 'after 5 s'))).toMatchObject({ status: 'killed', reason: 'after 5 s' });
  expect(await output(ended('lost', null))).toMatchObject({ status: 'lost', reason: expect.stringMatching(/worker/) });
  expect(await result('task_output', { task_id: 'none' })).toMatchObject(failed('NOT_FOUND', /^Task not found: none/));
  for (const args of [{}, { ...id, wait: 'yes' }, { ...id, timeout: -1 }, { ...id, from: 1 }]) {
    expect(await result('task_output', args)).toMatchObject(failed('INVALID_ARGUMENT'));
  }
});

// covers S3-85
test('task_output shows the last message of a sub-agent, or why it failed', async () => {
  const agent: TaskView = { ...shell, kind: 'agent' };
  const output = (task: TaskView) => result('task_output', id, { task });
  const said = { ...agent, status: 'completed' as const, outcome: { exit_code: null, message: 'done' } };
  expect(await output(said)).toEqual({ ...id, status: 'completed', exit_code: 0, stdout: 'done', stderr: '' });
  const reason = { code: 'EMODEL', message: 'API rate limit exceeded' };
  expect(await output({ ...agent, status: 'failed', outcome: { exit_code: null, reason } })).toMatchObject({
    ...{ status: 'completed', exit_code: 1, stderr: 'API rate limit exceeded' },
  });
});

// covers S3-86
test('task_output waits for the end of a task, up to a time', async () => {
  const now = () => 1_000_000;
  const wait = (more: object, context: Partial<ToolContext> = {}, task = shell) =>
    call('task_output', { ...id, ...more }, { task, context: { now, ...context } });
  expect(await wait({ wait: true })).toEqual({ status: 'deferred', until: 1_030_000, on: id });
  expect(await wait({ wait: true, timeout: 1 })).toMatchObject({ until: 1_001_000 });
  expect(await wait({})).toMatchObject({ value: { status: 'running' } });
  expect(await wait({ wait: true, timeout: 0 })).toMatchObject({ value: { status: 'running' } });
  const late = { deferred: { ...id, until: now() } };
  expect(await wait({ wait: true }, late)).toMatchObject({ value: { status: 'running' } });
  expect(await wait({ wait: true }, {}, ended('completed', 0))).toMatchObject({ value: { status: 'completed' } });
});

// covers S3-110
test('task_output shows the first and the last part of a long output', async () => {
  const context = { settings: { task_output_bytes: 1024 } };
  const { stdout } = (await result('task_output', id, { stdout: `${'a'.repeat(3000)}z`, context })) as {
    stdout: string;
  };
  expect(stdout).toBe(
    `${'a'.repeat(512)}\n[truncated: 3001 bytes in all, of which the first and the last are shown]\n${'a'.repeat(511)}z`,
  );
});
