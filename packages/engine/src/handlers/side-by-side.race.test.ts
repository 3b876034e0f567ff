import { expect, test } from 'vitest';
import { requestCancel, requestPause, requestResume, submitRun, undoSteps } from '../commands/index.ts';
import { readTasks } from '../log/index.ts';
import { listSteps } from '../queries/index.ts';
import { approveFirst } from '../testing/decide.ts';
import { calm, deliverAll } from '../testing/deliver-all.ts';
import { dyingAt, type InMemoryWorker, inMemoryWorker, specOf, sweepOnce } from '../testing/index.ts';
import { killPoints } from '../testing/kill-points.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { handleStep } from './handle-step.ts';
import { handleTask } from './handle-task.ts';
import { handleTurn } from './handle-turn.ts';

const engine = useTestEngine({ fresh: true });

const command = (shell: string) => ({ args: { effect: 'workspace', shell } });
const write = { args: { effect: 'workspace' } };
const three = [command('a'), command('b'), command('c')];
const stepsOf = async (runId: string) => (await listSteps(engine.deps, runId)).steps;
const statuses = async (runId: string) => (await stepsOf(runId)).map(({ status }) => status);

async function submit({ deps }: InMemoryWorker, groups: Parameters<typeof specOf>[0], more = {}) {
  return (await submitRun(deps, { spec: specOf(groups, { concurrent: true, ...more }), by: 'test' })).runId;
}

/** Takes the calls of the first turn to their background commands. */
async function begin({ deps }: InMemoryWorker, runId: string) {
  await handleTurn(deps, { run_id: runId, turn: 1 }, calm());
  for (const { id, status } of await stepsOf(runId)) {
    if (status === 'queued') await handleStep(deps, { run_id: runId, step_id: id }, calm());
  }
  return readTasks(deps.redis, runId);
}

test('concurrent calls run at the same time, and each settles from the end of its command', async () => {
  let beside = 0;
  const all = Promise.withResolvers<void>();
  const worker = inMemoryWorker(engine, {
    async task() {
      beside += 1;
      if (beside === 3) all.resolve();
      await all.promise;
    },
  });
  const { deps, tree } = worker;
  const runId = await submit(worker, [three, [write]]);
  const tasks = await begin(worker, runId);
  expect(await statuses(runId)).toEqual(['deferred', 'deferred', 'deferred']);
  // None of them ends before all have begun.
  await Promise.all(tasks.map(({ id }) => handleTask(deps, { run_id: runId, task_id: id }, calm())));
  await sweepOnce(deps);
  await deliverAll(deps);
  const { run, steps } = await listSteps(deps, runId);
  expect(run.status).toBe('succeeded');
  expect(steps.map(({ status, attempt }) => [status, attempt])).toEqual([
    ['succeeded', 2],
    ['succeeded', 2],
    ['succeeded', 2],
    ['succeeded', 1],
  ]);
  expect(tree.toSorted()).toEqual([...tasks.map(({ id }) => id), steps[3]?.id].toSorted());
  const events = await soundLog(deps, runId);
  expect(events.filter(({ type }) => type === 'workspace.captured')).toHaveLength(3);
});

test('calls that cannot run beside others keep their order, and one alone runs as always', async () => {
  const worker = inMemoryWorker(engine);
  const looking = { args: { effect: 'read', looks: true } };
  const runId = await submit(worker, [[write, command('a'), command('b'), looking, write], [command('alone')]]);
  await deliverAll(worker.deps);
  const { run, steps } = await listSteps(worker.deps, runId);
  expect(run.status).toBe('succeeded');
  expect(steps.map(({ call }) => call.beside)).toEqual([undefined, true, true, undefined, undefined, undefined]);
  const tasks = (await readTasks(worker.deps.redis, runId)).map(({ id }) => id);
  const [first, last, alone] = [worker.tree[0], worker.tree[3], worker.tree[4]];
  expect([first, last, alone]).toEqual([steps[0]?.id, steps[4]?.id, steps[5]?.id]);
  expect(worker.tree.slice(1, 3).toSorted()).toEqual(tasks);
  await soundLog(worker.deps, runId);
});

test('no more run side by side than the run may have tasks', async () => {
  const worker = inMemoryWorker(engine);
  const runId = await submit(worker, [Array.from({ length: 12 }, (_, index) => command(`${index}`))]);
  await deliverAll(worker.deps);
  expect(new Set(await statuses(runId))).toEqual(new Set(['succeeded']));
  expect((await stepsOf(runId)).filter(({ call }) => call.beside)).toHaveLength(8);
  expect(worker.tree).toHaveLength(12);
  await soundLog(worker.deps, runId);
});

test('a held call waits for its decision, and runs alone', async () => {
  const worker = inMemoryWorker(engine, {});
  const { deps, tree } = worker;
  const policy = { rules: [{ match: { args: { '/shell': 'b' } }, action: 'hold' }] };
  const runId = await submit(worker, [three], { policy });
  await deliverAll(deps);
  expect((await stepsOf(runId)).map(({ call }) => call.beside)).toEqual([true, undefined, true]);
  expect(await statuses(runId)).toEqual(['succeeded', 'parked', 'pending']);
  expect(tree).toHaveLength(1);
  await approveFirst(deps, runId);
  await deliverAll(deps);
  expect(await statuses(runId)).toEqual(['succeeded', 'succeeded', 'succeeded']);
  expect(tree[1]).toBe((await stepsOf(runId))[1]?.id);
  await soundLog(deps, runId);
});

test('a call whose worker is lost fails with that, never runs again, and the others keep their outcome', async () => {
  const worker = inMemoryWorker(engine);
  const { deps, executions } = worker;
  const runId = await submit(worker, [three, [write]], { onError: 'continue' });
  const [lost, ...others] = await begin(worker, runId);
  for (const { id } of others) await handleTask(deps, { run_id: runId, task_id: id }, calm());
  const gone = dyingAt(deps, Number.POSITIVE_INFINITY, 'before');
  const died = Promise.withResolvers<void>();
  const runTask = () => {
    died.resolve();
    return new Promise<never>(() => {});
  };
  const executor = { ...deps.executor, runTask };
  void handleTask({ ...gone.deps, executor }, { run_id: runId, task_id: lost?.id ?? '' }, calm());
  await died.promise;
  await sweepOnce(deps);
  await deliverAll(deps);
  const { run, steps } = await listSteps(deps, runId);
  expect(steps.map(({ status }) => status)).toEqual(['failed', 'succeeded', 'succeeded', 'succeeded']);
  expect(steps[0]?.outcome?.error).toMatchObject({ code: 'ETASKLOST' });
  expect(run.status).toBe('succeeded');
  expect(executions).toHaveLength(7);
  await soundLog(deps, runId);
});

test('a cancel ends the commands, and an undo takes back what they changed', async () => {
  const worker = inMemoryWorker(engine);
  const { deps, treeOf } = worker;
  const canceled = await submit(worker, [three]);
  await begin(worker, canceled);
  await requestCancel(deps, canceled, { by: 'ann' });
  await deliverAll(deps);
  expect(new Set(await statuses(canceled))).toEqual(new Set(['killed']));
  await soundLog(deps, canceled);

  const runId = await submit(worker, [[write], three, [{ args: { effect: 'external' } }]]);
  await deliverAll(deps);
  expect(treeOf(runId)).toHaveLength(4);
  await requestPause(deps, runId, 'ann');
  await undoSteps(deps, runId, { toStep: 1, keepExternalEffects: false, by: 'ann' });
  await requestResume(deps, runId, { by: 'ann' });
  await deliverAll(deps);
  const { steps } = await listSteps(deps, runId);
  expect(steps.map(({ status }) => status)).toEqual([
    ...['succeeded', 'undone', 'succeeded', 'undone', 'succeeded', 'undone', 'succeeded', 'undone', 'parked'],
  ]);
  expect(treeOf(runId)).toHaveLength(4);
  await approveFirst(deps, runId);
  await deliverAll(deps);
  await soundLog(deps, runId);
});

test.each(['before', 'after'] as const)(
  'a worker that dies %s any one command to Redis runs none of the commands twice',
  async (when) => {
    const points = killPoints({ every: 4 });
    let faulted = true;
    for (let commands = points.from; faulted; commands += points.every) {
      const worker = inMemoryWorker(engine);
      const { deps, treeOf } = worker;
      await deps.redis.flushdb();
      const runId = await submit(worker, [[command('a'), command('b')], [write]], { onError: 'continue' });
      const dying = dyingAt(deps, commands, when);
      const deliver = () => deliverAll(deps, () => (dying.died() ? deps : dying.deps));
      for (let round = 0; round < 4; round++) {
        await deliver();
        await sweepOnce(deps);
      }
      await deliver();
      faulted = dying.died();
      const { run, steps } = await listSteps(deps, runId);
      expect([commands, run.status]).toEqual([commands, 'succeeded']);
      const tasks = await readTasks(deps.redis, runId);
      expect(tasks).toHaveLength(2);
      // What is in the tree is what succeeded.
      const kept = tasks.filter(({ status }) => status === 'completed').map(({ id }) => id);
      const tree = treeOf(runId);
      expect([commands, tree.slice(0, -1).toSorted()]).toEqual([commands, kept.toSorted()]);
      expect(tree.at(-1)).toBe(steps[2]?.id);
      expect(steps.filter(({ status }) => status === 'succeeded')).toHaveLength(kept.length + 1);
      await soundLog(deps, runId);
    }
  },
);
