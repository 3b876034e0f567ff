import type { TaskView } from '@holdpoint/contract';
import { describe, expect, it } from 'vitest';
import { createRegistry } from '../../registry/registry.ts';
import { bareContext } from '../../testing/bare-context.ts';
import type { ToolContext } from '../../tool.ts';
import { holdpoint } from './toolset.ts';

const registry = createRegistry([holdpoint]);
const now = 1_000_000;
const call = (tool: string, args: object, more: Partial<ToolContext> = {}) =>
  registry.execute({ toolset: 'holdpoint', tool, args, context: { ...bareContext(), now: () => now, ...more } });

const shell = (more: Partial<TaskView> = {}): TaskView => ({
  ...{ id: 'task_1', kind: 'shell', title: 'make', status: 'running', created_at: '2026-01-01T00:00:00Z' },
  ...more,
});
const having = (task: TaskView): Pick<ToolContext, 'tasks'> => ({
  tasks: {
    ...bareContext().tasks,
    list: async () => [task],
    get: async (id) => (id === task.id ? task : undefined),
    output: async (_id, { stream, from, maxBytes }) => {
      const text = (stream === 'stdout' ? 'printed' : '').slice(from, from + maxBytes);
      return { text, from, next: from + text.length, total: 7, omitted: 0 };
    },
    kill: async (id) => (id === task.id ? { ...task, status: 'killed', outcome: { exit_code: null } } : undefined),
  },
});

describe('bash in the background', () => {
  it('returns at once with the task that starts, and changes nothing itself', async () => {
    expect(await call('bash', { command: 'make\n# all', run_in_background: true, timeout_s: 9 })).toEqual({
      status: 'succeeded',
      value: { task_id: 'task_1', status: 'running' },
      touched: [],
      task: { kind: 'shell', title: 'make', spec: { command: 'make\n# all', cwd: '.', timeout_ms: 9000 } },
    });
  });
});

describe('task', () => {
  const plan = [{ steps: [{ tool: 'glob', args: { pattern: '*' } }] }];

  it('waits for its sub-agent without holding a worker', async () => {
    expect(await call('task', { description: 'look', plan, timeout_s: 60 })).toMatchObject({
      status: 'deferred',
      until: now + 60_000,
      on: { task: { kind: 'agent', title: 'look', spec: { goal: { planner: 'scripted' } } } },
    });
  });

  it('returns at once in the background', async () => {
    expect(await call('task', { description: 'look', plan, run_in_background: true })).toMatchObject({
      status: 'succeeded',
      value: { task_id: 'task_1' },
      task: { kind: 'agent' },
    });
  });

  it('uses the model of the run unless the call names one', async () => {
    const asked = { description: 'look', prompt: 'Look.', run_in_background: true };
    const task = { spec: { goal: { planner: 'model', model: 'a/b', prompt: 'Look.' } } };
    expect(await call('task', asked, { model: 'a/b' })).toMatchObject({ task });
    expect(await call('task', { ...asked, model: 'a/b' })).toMatchObject({ task });
    expect(await call('task', asked)).toMatchObject({ status: 'failed', error: { code: 'ENOMODEL' } });
  });

  it('requires either a prompt or a plan', async () => {
    for (const args of [{}, { prompt: 'x', plan }]) {
      const outcome = await call('task', { description: 'look', ...args });
      expect(outcome).toMatchObject({ status: 'failed', error: { code: 'EINVALIDARGS' } });
    }
  });

  it('refuses to nest deeper than the run allows', async () => {
    const outcome = await call('task', { description: 'look', plan }, { depth: 2, maxDepth: 2 });
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'ETOODEEP' } });
  });

  it.each([
    ['completed', 'succeeded'],
    ['failed', 'failed'],
    ['killed', 'killed'],
    ['running', 'succeeded'],
  ] as const)('a sub-agent that is %s: %s', async (status, expected) => {
    const task = shell({ kind: 'agent', status, outcome: { exit_code: null, message: 'done' } });
    const deferred = { task_id: 'task_1', until: now - 1 };
    const outcome = await call('task', { description: 'look', plan }, { ...having(task), deferred });
    expect(outcome).toMatchObject({ status: expected, value: { status, message: 'done' } });
  });
});

describe('task_output', () => {
  it('returns the status, and the output from the cursors on', async () => {
    const outcome = await call('task_output', { task_id: 'task_1', stdout_cursor: 2, max_bytes: 3 }, having(shell()));
    expect(outcome).toMatchObject({
      status: 'succeeded',
      value: {
        status: 'running',
        exit_code: null,
        stdout: { text: 'int', next_cursor: 5, total_bytes: 7, omitted_bytes: 0 },
        stderr: { text: '' },
      },
    });
  });

  it('waits without holding a worker, at most for the requested time', async () => {
    const args = { task_id: 'task_1', wait_s: 5 };
    const waiting = { status: 'deferred', until: now + 5000, on: { task_id: 'task_1' } };
    expect(await call('task_output', args, having(shell()))).toEqual(waiting);
    const again = { ...having(shell()), deferred: { task_id: 'task_1', until: now } };
    expect(await call('task_output', args, again)).toMatchObject({ value: { status: 'running' } });
  });

  it.each(['completed', 'failed', 'killed', 'timed_out', 'lost'] as const)(
    'does not wait for one that is %s',
    async (status) => {
      const task = shell({ status, outcome: { exit_code: status === 'completed' ? 0 : null } });
      const outcome = await call('task_output', { task_id: 'task_1', wait_s: 5 }, having(task));
      expect(outcome).toMatchObject({ value: { status, exit_code: status === 'completed' ? 0 : null } });
    },
  );

  it('lists the known tasks for an unknown id', async () => {
    const outcome = await call('task_output', { task_id: 'task_2' }, having(shell()));
    expect(outcome).toMatchObject({
      error: { code: 'ENOTASK', next: expect.stringContaining('task_1 (running: make)') },
    });
  });
});

describe('kill_shell', () => {
  it('reports killed without an exit code', async () => {
    const outcome = await call('kill_shell', { task_id: 'task_1' }, having(shell()));
    expect(outcome).toMatchObject({ status: 'succeeded', value: { status: 'killed', exit_code: null } });
    expect(await call('kill_shell', { task_id: 'x' }, having(shell()))).toMatchObject({ error: { code: 'ENOTASK' } });
  });

  it('reports a task that is still running', async () => {
    const { tasks } = having(shell());
    const stubborn = { tasks: { ...tasks, kill: async () => shell() } };
    const outcome = await call('kill_shell', { task_id: 'task_1' }, stubborn);
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'ESTILLRUNNING' } });
  });
});

describe('task_merge', () => {
  const merging = (result: Awaited<ReturnType<ToolContext['tasks']['merge']>>) =>
    call('task_merge', { task_id: 'task_1' }, { tasks: { ...bareContext().tasks, merge: async () => result } });

  it('lists the merged paths, or the reason for none', async () => {
    expect(await merging({ status: 'merged', paths: ['a'] })).toMatchObject({ status: 'succeeded', touched: ['a'] });
    expect(await merging({ status: 'merged', paths: ['a'], left_out: ['pipe'] })).toMatchObject({
      value: { paths: ['a'], left_out: ['pipe'] },
    });
    const conflicts = [{ path: 'a', reason: 'merge' }];
    expect(await merging({ status: 'conflict', conflicts })).toMatchObject({
      ...{ status: 'failed', touched: [] },
      error: { code: 'ECONFLICT' },
      value: { conflicts },
    });
    const problem = { code: 'ETASKRUNNING', message: 'not over' };
    expect(await merging({ status: 'refused', problem })).toEqual({ status: 'failed', error: problem, touched: [] });
  });
});

describe('task_merge', () => {
  const merging = (result: Awaited<ReturnType<ToolContext['tasks']['merge']>>) => ({
    tasks: { ...bareContext().tasks, merge: async () => result },
  });
  const args = { task_id: 'task_1' };

  it('returns the paths that it brought in, and what cannot be merged', async () => {
    expect(await call('task_merge', args, merging({ status: 'merged', paths: ['a'] }))).toMatchObject({
      ...{ status: 'succeeded', value: { task_id: 'task_1', paths: ['a'] }, touched: ['a'] },
    });
    expect(await call('task_merge', args, merging({ status: 'merged', paths: [], left_out: ['pipe'] }))).toMatchObject({
      value: { left_out: ['pipe'] },
    });
  });

  it('names what both sides changed, and changes nothing', async () => {
    const conflicts = [
      { path: 'a', kind: 'content' as const },
      { path: 'b', kind: 'content' as const },
    ];
    expect(await call('task_merge', args, merging({ status: 'conflict', conflicts } as never))).toMatchObject({
      ...{ status: 'failed', error: { code: 'ECONFLICT', message: expect.stringContaining('a, b') }, touched: [] },
      value: { task_id: 'task_1', conflicts },
    });
  });

  it('passes a refusal on', async () => {
    expect(await call('task_merge', args)).toMatchObject({ status: 'failed', error: { code: 'ENOTASK' } });
  });

  it('shows a person what it would bring in', async () => {
    const preview = (found: Awaited<ReturnType<ToolContext['tasks']['previewMerge']>>) =>
      registry.preview({
        ...{ toolset: 'holdpoint', tool: 'task_merge', args },
        context: { ...bareContext(), tasks: { ...bareContext().tasks, previewMerge: async () => found } },
      });
    const problem = { code: 'ENOTASK', message: 'There is no task.' };
    expect(await preview({ status: 'refused', problem })).toEqual({ kind: 'problem', message: 'There is no task.' });
    expect(await preview({ status: 'merged', patch: '+a' } as never)).toMatchObject({
      kind: 'merge',
      task_id: 'task_1',
    });
  });
});
