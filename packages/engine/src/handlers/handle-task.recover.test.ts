import { limitsSchema } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import type { z } from 'zod';
import { requestCancel, requestPause, requestResume } from '../commands/steer-run.ts';
import { submitRun } from '../commands/submit-run.ts';
import { undoSteps } from '../commands/undo-run.ts';
import { readTasks } from '../log/index.ts';
import { listRuns } from '../queries/list-runs.ts';
import { listSteps } from '../queries/list-steps.ts';
import { requestTaskKill } from '../tasks/task-handle.ts';
import { approveFirst } from '../testing/decide.ts';
import { calm } from '../testing/deliver-all.ts';
import { deliverAll, dyingAt, type InMemoryWorker, inMemoryWorker, specOf, sweepOnce } from '../testing/index.ts';
import { killPoints } from '../testing/kill-points.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { handleStep } from './handle-step.ts';
import { handleTask } from './handle-task.ts';
import { handleTurn } from './handle-turn.ts';

const engine = useTestEngine({ fresh: true });

const write = (name?: string) => ({ name, args: { effect: 'workspace' } });
const shell = (text = 'hello') => ({ name: 'bg', args: { effect: 'workspace', background: text } });
const wait = { args: { effect: 'read', awaits: { $from: 'bg', pointer: '/task_id' } } };
type Json = z.core.util.JSONType;
const agent = (groups: Json[], name = 'sub') => ({ name, args: { effect: 'read', agent: { groups } } });

const submit = async (deps: InMemoryWorker['deps'], groups: Parameters<typeof specOf>[0], more = {}) =>
  (await submitRun(deps, { spec: { ...specOf(groups), ...more }, by: 'test' })).runId;
const runOf = async (runId: string) => (await listSteps(engine.deps, runId)).run;
const valuesOf = async (runId: string) =>
  (await listSteps(engine.deps, runId)).steps.map(({ outcome }) =>
    outcome?.value && 'json' in outcome.value ? outcome.value.json : undefined,
  );
const tasksOf = (runId: string) => readTasks(engine.deps.redis, runId);

test('a background command begins with the outcome of its step, and what it wrote is in a snapshot when it is over', async () => {
  const { deps, treeOf } = inMemoryWorker(engine);
  const runId = await submit(deps, [[shell()], [wait], [write()]]);
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({ status: 'succeeded', open_tasks: 0 });
  const [task] = await tasksOf(runId);
  expect(task).toMatchObject({ status: 'completed', outcome: { status: 'completed', exit_code: 0 } });
  expect((await valuesOf(runId))[1]).toMatchObject({ status: 'completed', outcome: { exit_code: 0 } });
  expect(treeOf(runId).filter((entry) => entry === task?.id)).toHaveLength(1);
  expect((await deps.outputs.read(task?.id ?? '', { stream: 'stdout', from: 0, maxBytes: 99 })).text).toBe('hello');
  const events = await soundLog(engine.deps, runId);
  const types = events.map(({ type }) => type);
  expect(types.indexOf('workspace.captured')).toBe(types.indexOf('task.ended') - 1);
  // Waiting for it held no worker: the step was there as a job that slept.
  expect(types.filter((type) => type === 'step.deferred')).toHaveLength(1);
});

test('the end of the run ends what still runs beside it, and waits for that', async () => {
  const { deps } = inMemoryWorker(engine, {
    task: (signal) => new Promise((end) => signal.addEventListener('abort', () => end())),
  });
  const runId = await submit(deps, [[shell()]]);
  await handleTurn(deps, { run_id: runId, turn: 1 }, calm());
  const { steps } = await listSteps(deps, runId);
  await handleStep(deps, { run_id: runId, step_id: steps[0]?.id ?? '' }, calm());
  const [task] = await tasksOf(runId);
  const stop = new AbortController();
  const running = handleTask(deps, { run_id: runId, task_id: task?.id ?? '' }, { signal: stop.signal, lastTry: false });
  await expect.poll(async () => (await tasksOf(runId))[0]?.status).toBe('running');
  await handleTurn(deps, { run_id: runId, turn: 2 }, calm());
  expect(await runOf(runId)).toMatchObject({ status: 'running', open_tasks: 1 });
  expect((await tasksOf(runId))[0]?.kill).toBeDefined();
  stop.abort('canceled');
  await running;
  expect(await runOf(runId)).toMatchObject({ status: 'succeeded', open_tasks: 0 });
  expect((await tasksOf(runId))[0]).toMatchObject({ status: 'killed', outcome: { exit_code: null } });
  await soundLog(engine.deps, runId);
});

test('a command whose worker died is lost, not completed, and its tree is rebuilt', async () => {
  const never = { task: () => new Promise<void>(() => {}) };
  const { deps, treeOf } = inMemoryWorker(engine, never);
  const runId = await submit(deps, [[write(), shell()], [wait], [write()]]);
  await handleTurn(deps, { run_id: runId, turn: 1 }, calm());
  const step = async (at: number) =>
    handleStep(deps, { run_id: runId, step_id: (await listSteps(deps, runId)).steps[at]?.id ?? '' }, calm());
  await step(0);
  await step(1);
  const [task] = await tasksOf(runId);
  const job = { run_id: runId, task_id: task?.id ?? '' };
  // This worker never comes back.
  void handleTask(deps, job, calm());
  await expect.poll(async () => (await tasksOf(runId))[0]?.status).toBe('running');
  await handleTask(deps, job, calm());
  expect((await tasksOf(runId))[0]).toMatchObject({ status: 'lost', outcome: { exit_code: null } });
  expect(await runOf(runId)).toMatchObject({ restore: 'due' });
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({ status: 'succeeded', lease: 2 });
  expect(treeOf(runId)).not.toContain(task?.id);
  expect(treeOf(runId)).toHaveLength(3);
  await soundLog(engine.deps, runId);
});

test('a task that was killed before it began never runs; a canceled run ends its tasks', async () => {
  const { deps, treeOf } = inMemoryWorker(engine);
  const runId = await submit(deps, [[shell()], [wait]]);
  await handleTurn(deps, { run_id: runId, turn: 1 }, calm());
  await handleStep(deps, { run_id: runId, step_id: (await listSteps(deps, runId)).steps[0]?.id ?? '' }, calm());
  const [task] = await tasksOf(runId);
  await requestTaskKill(deps, runId, task?.id ?? '', 'ann');
  await deliverAll(deps);
  expect((await tasksOf(runId))[0]).toMatchObject({ status: 'killed' });
  expect((await tasksOf(runId))[0]?.started_at).toBeUndefined();
  expect(treeOf(runId)).not.toContain(task?.id);

  const canceled = await submit(deps, [[shell()], [wait]]);
  await handleTurn(deps, { run_id: canceled, turn: 1 }, calm());
  await handleStep(deps, { run_id: canceled, step_id: (await listSteps(deps, canceled)).steps[0]?.id ?? '' }, calm());
  await requestCancel(deps, canceled, { by: 'ann' });
  await deliverAll(deps);
  expect(await runOf(canceled)).toMatchObject({ status: 'canceled', open_tasks: 0 });
  expect((await tasksOf(canceled))[0]).toMatchObject({ status: 'killed' });
  await expect(requestTaskKill(deps, runId, 'task_nobody', 'ann')).rejects.toMatchObject({ code: 'task_not_found' });
  await soundLog(engine.deps, canceled);
});

test('a command that ends while an approved call has the workspace waits with its snapshot; the call asks again, and neither is lost', async () => {
  const { deps, treeOf } = inMemoryWorker(engine);
  const policy = { rules: [{ match: { effect: 'external' }, action: 'hold' }] };
  const groups = [[shell()], [{ args: { effect: 'external' } }], [wait]];
  const runId = (await submitRun(deps, { spec: specOf(groups, { policy }), by: 'test' })).runId;
  const turn = (number: number) => handleTurn(deps, { run_id: runId, turn: number }, calm());
  await turn(1);
  await handleStep(deps, { run_id: runId, step_id: (await listSteps(deps, runId)).steps[0]?.id ?? '' }, calm());
  await turn(2);
  const { approval: first } = await approveFirst(deps, runId);
  const [task] = await tasksOf(runId);
  const end = await handleTask(deps, { run_id: runId, task_id: task?.id ?? '' }, calm());
  expect(end.kind).toBe('sleep');
  expect((await tasksOf(runId))[0]?.status).toBe('capturing');
  const held = (await listSteps(deps, runId)).steps[1]?.id ?? '';
  expect(await runOf(runId)).toMatchObject({ writer: held });
  expect(await handleStep(deps, { run_id: runId, step_id: held }, calm())).toMatchObject({ kind: 'sleep' });
  expect(treeOf(runId)).not.toContain(held);
  await handleTask(deps, { run_id: runId, task_id: task?.id ?? '' }, calm());
  const { approval: second } = await approveFirst(deps, runId);
  expect(second?.request.changed).toMatchObject({
    approval_id: first?.id,
    changes: [{ path: task?.id, change: 'added' }],
    total: 1,
  });
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({ status: 'succeeded', uncaptured: 0 });
  expect((await tasksOf(runId))[0]).toMatchObject({ status: 'completed' });
  expect(treeOf(runId)).toEqual(expect.arrayContaining([held, task?.id]));
  await soundLog(engine.deps, runId);
});

test('a sub-agent works on a copy, its end wakes the step that waits, and its changes come in by a step of their own', async () => {
  const { deps, treeOf } = inMemoryWorker(engine);
  const sub = agent([{ steps: [{ tool: 'count', args: { effect: 'workspace' } }] }]);
  const merge = { args: { effect: 'workspace', merges: { $from: 'sub', pointer: '/task_id' } } };
  const runId = await submit(deps, [[write()], [sub, { ...sub, name: 'other' }], [merge]]);
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({ status: 'succeeded', open_tasks: 0 });
  const tasks = await tasksOf(runId);
  expect(tasks.map(({ status }) => status)).toEqual(['completed', 'completed']);
  const child = await listSteps(deps, tasks[0]?.about.child ?? '');
  expect(child.run).toMatchObject({ status: 'succeeded', parent: { run_id: runId, depth: 1 } });
  expect((await valuesOf(runId))[3]).toMatchObject({ status: 'merged', paths: [child.steps[0]?.id] });
  expect(treeOf(runId).filter((entry) => entry === child.steps[0]?.id)).toHaveLength(1);
  const other = await listSteps(deps, tasks[1]?.about.child ?? '');
  expect(treeOf(runId)).not.toContain(other.steps[0]?.id);
  for (const id of [runId, child.run.id, other.run.id]) await soundLog(engine.deps, id);
});

test.each([
  [undefined, 'Wait for one of them with wait_for, or end one with end_task.'],
  [{}, 'Wait until one of them has ended.'],
])(
  'no more tasks are open at once than the run may have; the error names the tools of its toolset',
  async (taskTools, next) => {
    const { deps } = inMemoryWorker(engine, { taskTools });
    const limits = limitsSchema.parse({ max_tasks: 2 });
    const groups = [[1, 2, 3].map((n) => ({ args: { effect: 'read', background: `${n}` } }))];
    const runId = (await submitRun(deps, { spec: { ...specOf(groups, { onError: 'continue' }), limits }, by: 'test' }))
      .runId;
    await handleTurn(deps, { run_id: runId, turn: 1 }, calm());
    const { steps } = await listSteps(deps, runId);
    await Promise.all(steps.map(({ id }) => handleStep(deps, { run_id: runId, step_id: id }, calm())));
    const settled = (await listSteps(deps, runId)).steps;
    expect(settled.map(({ status }) => status).sort()).toEqual(['failed', 'succeeded', 'succeeded']);
    expect(settled.find(({ status }) => status === 'failed')?.outcome?.error).toMatchObject({
      code: 'ETOOMANYTASKS',
      next,
    });
    expect(await tasksOf(runId)).toHaveLength(2);
    await deliverAll(deps);
    await soundLog(engine.deps, runId);
  },
);

test('a paused run begins no task; resumed, it does', async () => {
  const { deps } = inMemoryWorker(engine);
  const runId = await submit(deps, [[shell()], [wait]]);
  await handleTurn(deps, { run_id: runId, turn: 1 }, calm());
  await handleStep(deps, { run_id: runId, step_id: (await listSteps(deps, runId)).steps[0]?.id ?? '' }, calm());
  await requestPause(deps, runId, 'ann');
  await deliverAll(deps);
  expect((await tasksOf(runId))[0]?.status).toBe('queued');
  await requestResume(deps, runId, { by: 'ann' });
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({ status: 'succeeded' });
  expect((await tasksOf(runId))[0]?.status).toBe('completed');
});

test.each(['before', 'after'] as const)(
  'a worker that dies %s any one command to Redis loses no task, and runs none twice',
  async (when) => {
    const sub = agent([{ steps: [{ tool: 'count', args: { effect: 'workspace' } }] }]);
    const merge = { args: { effect: 'workspace', merges: { $from: 'sub', pointer: '/task_id' } } };
    const points = killPoints({ every: 3 });
    let commands = points.from;
    for (let faulted = true; faulted; commands += points.every) {
      await engine.deps.redis.flushall();
      const { deps, treeOf } = inMemoryWorker(engine);
      const runId = await submit(deps, [[shell()], [wait, sub], [merge], [write()]]);
      const dying = dyingAt(deps, commands, when);
      await deliverAll(deps, () => (dying.died() ? deps : dying.deps));
      for (let round = 0; round < 3; round++) {
        await sweepOnce(deps);
        await deliverAll(deps);
      }
      faulted = dying.died();
      const note = `death at command ${commands}`;
      expect(await runOf(runId), note).toMatchObject({ open_tasks: 0 });
      expect((await runOf(runId)).status, note).toBe('succeeded');
      const [background, child] = await tasksOf(runId);
      expect(['completed', 'lost'], note).toContain(background?.status);
      const marks = treeOf(runId).filter((entry) => entry === background?.id);
      expect(marks.length, note).toBe(background?.status === 'completed' ? 1 : 0);
      expect(child?.status, note).toBe('completed');
      const { steps } = await listSteps(deps, child?.about.child ?? '');
      expect(
        treeOf(runId).filter((entry) => entry === steps[0]?.id),
        note,
      ).toHaveLength(1);
      for (const { id } of (await listRuns(deps, {}, { limit: 10 })).items) await soundLog(engine.deps, id);
    }
    expect(commands).toBeGreaterThan(60);
  },
);

test('an undo takes back what a background command changed after that moment, and says so of it', async () => {
  const { deps, treeOf } = inMemoryWorker(engine);
  const runId = await submit(deps, [[shell()], [write()], [wait], [write()], [{ args: { effect: 'external' } }]]);
  await handleTurn(deps, { run_id: runId, turn: 1 }, calm());
  const step = async (at: number) =>
    handleStep(deps, { run_id: runId, step_id: (await listSteps(deps, runId)).steps[at]?.id ?? '' }, calm());
  await step(0);
  await handleTurn(deps, { run_id: runId, turn: 2 }, calm());
  await step(1);
  await deliverAll(deps);
  const [task] = await tasksOf(runId);
  expect(task?.status).toBe('completed');
  expect(treeOf(runId)).toHaveLength(4);
  await requestPause(deps, runId, 'ann');

  // After the wait its changes are there, and stay.
  await undoSteps(deps, runId, { toStep: 3, keepExternalEffects: false, by: 'ann' });
  await deliverAll(deps);
  expect(treeOf(runId)).toContain(task?.id);
  expect((await tasksOf(runId))[0]?.status).toBe('completed');
  // Before, they were not.
  await undoSteps(deps, runId, { toStep: 1, keepExternalEffects: false, by: 'ann' });
  await deliverAll(deps);
  expect(treeOf(runId)).toHaveLength(1);
  expect((await tasksOf(runId))[0]).toMatchObject({ status: 'lost', outcome: { exit_code: null } });
  await soundLog(engine.deps, runId);
});
