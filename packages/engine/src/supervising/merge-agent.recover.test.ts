import { limitsSchema } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import type { z } from 'zod';
import { requestCancel, requestPause, requestResume, submitRun } from '../commands/index.ts';
import { undoSteps } from '../commands/undo-run.ts';
import { handleStep } from '../handlers/handle-step.ts';
import { handleTask } from '../handlers/handle-task.ts';
import { handleTurn } from '../handlers/handle-turn.ts';
import { fromPayload, readRun, readTasks } from '../log/index.ts';
import { listRuns, listSteps } from '../queries/index.ts';
import { decideOn, pendingApprovals } from '../testing/decide.ts';
import { calm } from '../testing/deliver-all.ts';
import { deliverAll, dyingAt, type InMemoryWorker, inMemoryWorker, specOf, sweepOnce } from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';

const engine = useTestEngine({ fresh: true });

type Json = z.core.util.JSONType;
type Deps = InMemoryWorker['deps'];
/** Between the commands at which a process dies: every one of them in `npm run test:crash`. */
const stride = process.env.HOLDPOINT_CRASH === 'full' ? 1 : 7;
const write = { args: { effect: 'workspace' } };
const merging = { effect: 'read', merge: 'on_success', on_pause: 'fail' };
/** A call whose sub-agent makes these calls and merges by itself. */
const agent = (...steps: { args: Record<string, Json> }[]) => ({
  args: {
    ...merging,
    agent: { groups: [{ steps: steps.map((step) => ({ tool: 'count', ...step })) }] },
  } as Record<string, Json>,
});
const asking = { args: { ...merging, asks: '' } as Record<string, Json> };

const submit = async (deps: Deps, groups: Parameters<typeof specOf>[0], more = {}) =>
  (await submitRun(deps, { spec: { ...specOf(groups), ...more }, by: 'test' })).runId;
const runOf = async (runId: string) => (await listSteps(engine.deps, runId)).run;
const tasksOf = async (runId: string) =>
  (await readTasks(engine.deps.redis, runId)).sort((a, b) => (a.created_at + a.id < b.created_at + b.id ? -1 : 1));
const stepsOf = async (runId = '') => (await listSteps(engine.deps, runId)).steps.map(({ id }) => id);
const allSound = async () => {
  for (const { id } of (await listRuns(engine.deps, {}, { limit: 50 })).items) await soundLog(engine.deps, id);
};
const failing = (deps: Deps, error: Error): Deps => ({
  ...deps,
  defaultModel: 'test/default',
  planners: { ...deps.planners, model: { next: () => Promise.reject(error) } },
});
const refused = () => Object.assign(new Error('API rate limit exceeded'), { code: 'EMODELREQUEST', retryable: false });

/** Delivers steps and turns, while the job of a task is under way. */
async function deliverSteps(deps: Deps): Promise<void> {
  for (;;) {
    const [turn] = await deps.queues.turns.getJobs(['waiting', 'prioritized']);
    const [step] = await deps.queues.steps.getJobs(['waiting', 'prioritized']);
    if (turn) await handleTurn(deps, turn.data, calm());
    else if (step) await handleStep(deps, step.data, calm());
    else return;
    await (turn ?? step)?.remove();
  }
}

test('sub-agents that ended merge in the order in which they began, each once', async () => {
  const { deps, treeOf } = inMemoryWorker(engine);
  const runId = await submit(deps, [[write], [agent(write), agent(write, write), agent(write)], [write]]);
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({ status: 'succeeded', open_tasks: 0, writer: '', uncaptured: 0 });
  const tasks = await tasksOf(runId);
  expect(tasks.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
  const [first = '', , , , last = ''] = await stepsOf(runId);
  const theirs = await Promise.all(tasks.map(({ about }) => stepsOf(about.child)));
  expect(treeOf(runId)).toEqual([first, ...theirs.flat(), last]);
  expect(tasks.map(({ outcome }) => outcome?.merged)).toEqual(theirs.map((paths) => ({ paths, total: paths.length })));
  await allSound();
});

test('sub-agents of one turn merge in the order of its calls, when they end in the opposite order', async () => {
  const { deps, treeOf } = inMemoryWorker(engine);
  const held = { args: { effect: 'external' } };
  const runId = await submit(deps, [[agent(held, write), agent(held, write), agent(write)], [write]]);
  await deliverAll(deps);
  const tasks = await tasksOf(runId);
  const inOrder = async () => {
    const { steps } = await listSteps(deps, runId);
    return steps.flatMap(({ task }) => tasks.filter(({ id }) => id === task));
  };
  const [first, second, third] = await inOrder();
  const statusOf = async () => (await listSteps(deps, runId)).tasks.map(({ id, status }) => [id, status]);
  const approve = async (child = '') => {
    const [asked] = await pendingApprovals(deps, child);
    await decideOn(deps, asked);
    await deliverAll(deps);
  };
  // The third has ended and waits; the run waits as well, because only a person can continue it.
  expect(Object.fromEntries(await statusOf())[third?.id ?? '']).toBe('capturing');
  expect(treeOf(runId)).toEqual([]);
  expect((await runOf(runId)).status).toBe('waiting');
  await approve(second?.about.child);
  expect(treeOf(runId)).toEqual([]);
  expect((await runOf(runId)).status).toBe('waiting');
  await approve(first?.about.child);
  expect(await runOf(runId)).toMatchObject({ status: 'succeeded', writer: '', uncaptured: 0 });
  const theirs = await Promise.all([first, second, third].map((task) => stepsOf(task?.about.child)));
  expect(treeOf(runId)).toEqual([...theirs.flat(), (await stepsOf(runId)).at(-1)]);
  await allSound();
});

test('a merge beside a command that has begun keeps what the command wrote', async () => {
  const { deps, treeOf } = inMemoryWorker(engine);
  const shell = { name: 'bg', args: { effect: 'read', background: 'hello' } };
  const runId = await submit(deps, [[write], [shell, agent(write)], [{ args: { effect: 'read' } }]]);
  await deliverAll(deps);
  const [command, merged] = await tasksOf(runId);
  expect([command?.status, merged?.status]).toEqual(['completed', 'completed']);
  const theirs = await stepsOf(merged?.about.child);
  expect(treeOf(runId)).toEqual(expect.arrayContaining([command?.id, ...theirs]));
  expect(new Set(treeOf(runId)).size).toBe(treeOf(runId).length);
  expect(await runOf(runId)).toMatchObject({ status: 'succeeded', uncaptured: 0 });
  await allSound();
});

test('a call that merges beside a running command keeps what the command wrote', async () => {
  const held = { args: { effect: 'external' } };
  const policy = { rules: [{ match: { effect: 'external' }, action: 'hold' }] };
  const made = { name: 'a', args: { effect: 'read', agent: { groups: [{ steps: [{ tool: 'count', ...write }] }] } } };
  const merge = { args: { effect: 'workspace', merges: { $from: 'a', pointer: '/task_id' } } };
  const shell = { args: { effect: 'read', background: 'hello' } };
  let runId = '';
  const { deps, treeOf } = inMemoryWorker(engine, {
    // The command has written and still runs: the call before the merge is rejected, and the merge is made.
    task: async () => {
      const [asked] = await pendingApprovals(deps, runId);
      await decideOn(deps, asked, { decision: 'reject' });
      await deliverSteps(deps);
    },
  });
  runId = (
    await submitRun(deps, {
      spec: specOf([[made], [shell], [held], [merge]], { policy, onError: 'continue' }),
      by: 'test',
    })
  ).runId;
  await deliverAll(deps);
  const tasks = await tasksOf(runId);
  const theirs = await stepsOf(tasks.find(({ about }) => about.child !== undefined)?.about.child);
  const command = tasks.find(({ about }) => about.child === undefined)?.id;
  expect((await listSteps(deps, runId)).steps.map(({ status }) => status)).toEqual([
    'succeeded',
    'succeeded',
    'rejected',
    'succeeded',
  ]);
  expect(treeOf(runId)).toEqual(expect.arrayContaining([command, ...theirs]));
  await allSound();
});

test('an undo to before a merge takes it back, and its task says so', async () => {
  const { deps, treeOf } = inMemoryWorker(engine);
  const beside = { args: { ...agent(write).args, beside: true } };
  const held = { args: { effect: 'external' } };
  const policy = { rules: [{ match: { effect: 'external' }, action: 'hold' }] };
  const groups = [[beside], [write], [{ args: { effect: 'read' } }], [held]];
  const runId = (await submitRun(deps, { spec: specOf(groups, { policy }), by: 'test' })).runId;
  await deliverAll(deps);
  const [task] = await tasksOf(runId);
  expect(task).toMatchObject({ status: 'completed', outcome: { merged: { total: 1 } } });
  const theirs = await stepsOf(task?.about.child);
  expect(treeOf(runId)).toEqual(expect.arrayContaining(theirs));
  await requestPause(deps, runId, 'ann');
  await undoSteps(deps, runId, { toStep: 1, keepExternalEffects: false, by: 'ann' });
  await deliverAll(deps);
  const isIn = treeOf(runId).includes(theirs[0] ?? '');
  expect((await tasksOf(runId))[0]?.status).toBe(isIn ? 'completed' : 'lost');
  expect(isIn).toBe(false);
  await allSound();
});

test('a conflict fails the task and changes nothing; the sub-agent keeps its files', async () => {
  const { deps, treeOf } = inMemoryWorker(engine, { mergeConflict: () => ['a.txt', 'b.txt'] });
  const runId = await submit(deps, [[agent(write)], [write]]);
  await deliverAll(deps);
  const [task] = await tasksOf(runId);
  expect(task).toMatchObject({
    ...{ status: 'failed' },
    outcome: {
      ...{ exit_code: 1, merged: { conflicts: [{ path: 'a.txt' }, { path: 'b.txt' }], total: 2 } },
      reason: { code: 'ECONFLICT', message: expect.stringContaining('a.txt, b.txt') },
    },
  });
  expect(treeOf(runId)).toEqual([(await stepsOf(runId))[1]]);
  expect(await runOf(task?.about.child ?? '')).toMatchObject({ status: 'succeeded' });
  expect(await runOf(runId)).toMatchObject({ status: 'succeeded', writer: '', uncaptured: 0 });
  await allSound();
});

test('a model error ends the sub-agent as failed, with its reason; without on_pause it waits', async () => {
  const { deps } = inMemoryWorker(engine);
  const worker = failing(deps, refused());
  const runId = await submit(deps, [[asking]]);
  await deliverAll(worker);
  expect(await runOf(runId)).toMatchObject({ status: 'succeeded', agents_total: { waiting: 0, paused: 0 } });
  const [task] = await tasksOf(runId);
  expect(task).toMatchObject({
    ...{
      status: 'failed',
      outcome: { exit_code: 1, reason: { code: 'EMODELREQUEST', message: 'API rate limit exceeded' } },
    },
  });
  expect((await runOf(task?.about.child ?? '')).status).toBe('canceled');

  const waits = await submit(deps, [[{ args: { effect: 'read', asks: '' } }]]);
  await deliverAll(worker);
  expect(await runOf(waits)).toMatchObject({ status: 'waiting', agents_total: { paused: 1 } });
  await allSound();
});

test('a limit of the run above ends it as failed; a person who pauses it does not', async () => {
  const { deps } = inMemoryWorker(engine);
  const limits = limitsSchema.parse({ max_steps: 2 });
  const runId = await submit(deps, [[agent(write, write)]], { limits });
  await deliverAll(deps);
  expect((await tasksOf(runId))[0]).toMatchObject({
    ...{ status: 'failed', outcome: { exit_code: 1, reason: { code: 'max_steps' } } },
  });

  const held = { args: { effect: 'external' } };
  const byHand = await submit(deps, [[agent(held)]]);
  await deliverAll(deps);
  const [task] = await tasksOf(byHand);
  const child = task?.about.child ?? '';
  await requestPause(deps, child, 'ann');
  await deliverAll(deps);
  await sweepOnce(deps);
  expect(await runOf(byHand)).toMatchObject({ status: 'waiting', agents_total: { paused: 1 } });
  await requestResume(deps, child, { by: 'ann' });
  await requestCancel(deps, byHand, { by: 'ann' });
  await deliverAll(deps);
  expect((await tasksOf(byHand))[0]?.status).toBe('killed');
  await allSound();
});

test('the model of the operator is in the spec of the task; a run that lists models uses no other one', async () => {
  const { deps } = inMemoryWorker(engine);
  const worker = { ...deps, defaultModel: 'test/default' };
  const specsOf = async (runId: string) =>
    Promise.all((await tasksOf(runId)).map(({ about }) => fromPayload(deps.blobs, about.spec)));
  const runId = await submit(deps, [[asking]]);
  await deliverAll(worker);
  expect(await runOf(runId)).toMatchObject({ status: 'succeeded' });
  expect(await specsOf(runId)).toMatchObject([{ goal: { planner: 'model', model: 'test/default' } }]);
  const listed = await submit(deps, [[asking]], { models: ['test/listed'] });
  await deliverAll(worker);
  expect(await specsOf(listed)).toMatchObject([{ goal: { model: 'test/listed' } }]);
  const other = await submit(deps, [[{ args: { ...merging, asks: 'test/other' } }]]);
  await deliverAll(worker);
  expect((await listSteps(deps, other)).steps[0]?.outcome?.error?.code).toBe('EMODELNOTALLOWED');
  await allSound();
});

test('a merge whose worker was lost is made again on a new tree', async () => {
  const { deps, treeOf } = inMemoryWorker(engine);
  const runId = await submit(deps, [[agent(write)], [write]]);
  const lost = { ...deps, workspaces: { ...deps.workspaces, merge: lostAfter(deps.workspaces.merge) } };
  await expect(deliverAll(lost)).rejects.toThrow('lost');
  const [task] = await tasksOf(runId);
  expect(await readRun(deps.redis, runId)).toMatchObject({ merging: task?.id, writer: task?.id });
  await handleTask(deps, { run_id: runId, task_id: task?.id ?? '' }, calm());
  const found = await readRun(deps.redis, runId);
  expect([found?.restore, found?.merging, found?.writer]).toEqual(['due', undefined, '']);
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({ status: 'succeeded', lease: 2 });
  expect(treeOf(runId)).toEqual([...(await stepsOf(task?.about.child)), (await stepsOf(runId))[1]]);
  await allSound();
});

/** The merge is in the tree when its worker is lost. */
function lostAfter<Args extends unknown[]>(act: (...args: Args) => Promise<unknown>) {
  return async (...args: Args): Promise<never> => {
    await act(...args);
    throw new Error('lost');
  };
}

test.each(['before', 'after'] as const)(
  'a worker that dies %s any one command to Redis merges each sub-agent once',
  async (when) => {
    let commands = 1;
    for (let faulted = true; faulted; commands += stride) {
      await engine.deps.redis.flushall();
      const { deps, treeOf } = inMemoryWorker(engine);
      const runId = await submit(deps, [[agent(write), agent(write)], [write]]);
      const dying = dyingAt(deps, commands, when);
      await deliverAll(deps, () => (dying.died() ? deps : dying.deps));
      for (let round = 0; round < 4; round++) {
        await sweepOnce(deps);
        await deliverAll(deps);
      }
      faulted = dying.died();
      const note = `death at command ${commands}`;
      expect(await runOf(runId), note).toMatchObject({ status: 'succeeded', open_tasks: 0, writer: '' });
      const tasks = await tasksOf(runId);
      expect(
        tasks.map(({ status }) => status),
        note,
      ).toEqual(['completed', 'completed']);
      const theirs = await Promise.all(tasks.map(({ about }) => stepsOf(about.child)));
      expect([...treeOf(runId)].sort(), note).toEqual([...theirs.flat(), (await stepsOf(runId))[2]].sort());
      await allSound();
    }
    expect(commands).toBeGreaterThan(100);
  },
  600_000,
);
