import type { Json, TaskView } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { createRegistry } from '../../registry/registry.ts';
import { bareContext, noTasks } from '../../testing/bare-context.ts';
import type { ToolContext } from '../../tool.ts';
import { clemini, presentClemini } from './toolset.ts';

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

const agent: TaskView = { ...shell, kind: 'agent' };
const merged = { paths: ['a'], total: 1 };
const reason = { code: 'EMODEL', message: 'API rate limit exceeded' };
const conflicts = [{ path: 'a.ts', reason: 'both changed it' }];
/** How a sub-agent ends, with its exit code and what the contract shows as its output and errors. */
const ends: [TaskView['status'], TaskView['outcome'], number, string, string][] = [
  ['completed', { exit_code: null, message: 'done', merged }, 0, 'done', ''],
  [
    'completed',
    { exit_code: null, merged: { ...merged, left_out: ['s.sock'] } },
    0,
    '',
    'Not merged, since no merge can bring it: s.sock.',
  ],
  ['completed', { exit_code: null, message: 'done' }, 0, 'done', 'Its changes were not merged.'],
  ['failed', { exit_code: 1, reason }, 1, '', 'Error: API rate limit exceeded'],
  ['failed', undefined, 1, '', 'Error: it failed'],
  [
    'failed',
    { exit_code: 1, message: 'done', merged: { conflicts, total: 2 } },
    1,
    'done',
    'Error: nothing was merged: its changes conflict with others in a.ts and more.',
  ],
];

// covers S3-85, S3-91, S3-93
test.each(ends)(
  'task_output of a sub-agent that has %s shows %o',
  async (status, outcome, exit_code, stdout, stderr) => {
    const task = { ...agent, status, outcome };
    const shown = { ...id, status: 'completed', exit_code, stdout, stderr };
    expect(await result('task_output', id, { task })).toMatchObject(shown);
  },
);

// covers S3-91
test('task_output of a sub-agent that runs, or was ended, says so', async () => {
  const output = (task: TaskView) => result('task_output', id, { task });
  expect(await output(agent)).toEqual({ ...id, status: 'running', stdout: '', stderr: '' });
  expect(await output({ ...agent, status: 'killed' })).toMatchObject({
    status: 'killed',
    stderr: 'Error: it was ended',
  });
  expect(await output({ ...agent, status: 'lost' })).toMatchObject({ status: 'lost', stderr: 'Error: it was lost' });
});

// covers S3-90, S3-92, S3-93
test.each(ends)('a task whose sub-agent has %s returns %o', async (status, outcome, exit_code, stdout, stderr) => {
  const task = { ...agent, status, outcome };
  const context = { deferred: { ...id, until: 0 } };
  expect(await result('task', { prompt: 'x' }, { task, context })).toEqual({
    ...{ status: exit_code === 0 ? 'success' : 'failed', stdout, stderr, exit_code },
  });
});

// covers S3-90, S3-91, S3-93
test('a task begins a sub-agent that merges by itself and never waits for a person', async () => {
  const context = { model: 'mock/one', now: () => 1000 };
  const prompt = '  Fix the tests\nof the parser';
  const spec = { goal: { planner: 'model', model: 'mock/one', prompt }, merge: 'on_success', on_pause: 'fail' };
  const begun = { kind: 'agent', title: 'Fix the tests', spec };
  expect(await call('task', { prompt }, { context })).toEqual({
    status: 'deferred',
    until: 86_401_000,
    on: { task: begun },
  });
  expect(await call('task', { prompt, background: true }, { context })).toMatchObject({
    ...{ value: { task_id: 'task_1', status: 'running', prompt }, task: begun },
  });
});

// covers S3-92, S3-93, S3-06
test('a task that cannot be begun, or found, has failed with a reason', async () => {
  const run = (context: Partial<ToolContext>, args: object = { prompt: 'x' }) => result('task', args, { context });
  const no = (stderr: RegExp) => ({
    status: 'failed',
    stdout: '',
    stderr: expect.stringMatching(stderr),
    exit_code: 1,
  });
  expect(await run({})).toEqual(no(/^Error: This run has no model/));
  expect(await run({}, { prompt: 'x', background: true })).toEqual(no(/^Error: This run has no model/));
  expect(await run({ model: 'mock/one', depth: 2 })).toEqual(no(/^Error: .*sub-agents nest at most 2 deep/));
  expect(await run({ deferred: { task_id: 'none', until: 0 } })).toEqual(no(/^Error: The sub-agent is gone/));
  expect(await run({ deferred: { ...id, until: 0 } })).toEqual(no(/^Error: It still runs after a day, as t1/));
  for (const args of [{}, { prompt: ' ' }, { prompt: 1 }, { prompt: 'x', model: 'mock/one' }]) {
    expect(await run({}, args)).toMatchObject(failed('INVALID_ARGUMENT'));
  }
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
    `${'a'.repeat(512)}\n[truncated: 3001 bytes in all; the first and the last are shown]\n${'a'.repeat(511)}z`,
  );
});
