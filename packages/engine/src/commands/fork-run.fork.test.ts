import type { RunSpec } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { readLog } from '../log/index.ts';
import type { PastTurn, Planner } from '../ports/index.ts';
import { listSteps } from '../queries/list-steps.ts';
import { Died, deliverAll, dyingAt, type InMemoryWorker, inMemoryWorker, specOf, sweepOnce } from '../testing/index.ts';
import { killPoints } from '../testing/kill-points.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { forkRun } from './fork-run.ts';
import { requestCancel, requestDiscarding } from './steer-run.ts';
import { submitRun } from './submit-run.ts';

const engine = useTestEngine();

const write = (name: string) => ({ name, args: { effect: 'workspace' } });
const read = (name: string) => ({ name, args: { effect: 'read' } });
const fork = (deps: InMemoryWorker['deps'], runId: string, fromStep: string | number, changes = {}) =>
  forkRun(deps, runId, { fromStep, changes, by: 'test' });

const namesOf = async (runId: string) =>
  (await listSteps(engine.deps, runId)).steps.map(({ call, status }) => `${call.name} ${status}`);

async function finished(deps: InMemoryWorker['deps'], spec: RunSpec): Promise<string> {
  const { runId } = await submitRun(deps, { spec, by: 'test' });
  await deliverAll(deps);
  return runId;
}

test('a fork begins with the files after its step, plans what comes next, and leaves the other run as it is', async () => {
  const { deps, tree, treeOf } = inMemoryWorker(engine);
  const runId = await finished(deps, specOf([[write('a')], [write('b')], [write('c')]]));
  const before = [...tree];
  const { runId: child, created } = await fork(deps, runId, 2);
  expect(created).toBe(true);
  await deliverAll(deps);
  const { run, steps } = await listSteps(deps, child);
  expect(run).toMatchObject({ status: 'succeeded', turn: 3, forked_from: { run_id: runId, turn: 2 } });
  expect(await namesOf(child)).toEqual(['c succeeded']);
  expect(treeOf(child)).toEqual([...before.slice(0, 2), steps[0]?.id]);
  expect(tree).toEqual(before);
  const told = (await soundLog(deps, runId)).at(-1);
  expect(told).toMatchObject({ type: 'run.forked', data: { child } });
  await soundLog(deps, child);
});

test('a fork in the middle of a turn keeps the outcomes before it and runs the rest', async () => {
  const { deps, tree, treeOf, executions } = inMemoryWorker(engine);
  const runId = await finished(deps, specOf([[write('a'), write('b'), read('r')], [write('c')]]));
  const ran = executions.length;
  const [first] = (await listSteps(deps, runId)).steps;
  const { runId: child } = await fork(deps, runId, first?.id ?? '');
  await deliverAll(deps);
  const { steps } = await listSteps(deps, child);
  expect(await namesOf(child)).toEqual(['a succeeded', 'b succeeded', 'r succeeded', 'c succeeded']);
  expect(steps[0]?.outcome).toMatchObject({ attempt: null, inherited_from: first?.id, value: first?.outcome?.value });
  expect(executions.slice(ran).map(({ stepId }) => stepId)).toEqual(expect.not.arrayContaining([steps[0]?.id]));
  expect(treeOf(child)).toEqual([tree[0], steps[1]?.id, steps[3]?.id]);
  await soundLog(deps, child);
});

test('a fork before the first step begins with the files that the run began with', async () => {
  const { deps, treeOf } = inMemoryWorker(engine);
  const runId = await finished(deps, specOf([[write('a')], [write('b')]]));
  const { runId: child } = await fork(deps, runId, 0);
  await deliverAll(deps);
  expect(await namesOf(child)).toEqual(['a succeeded', 'b succeeded']);
  expect(treeOf(child)).toEqual((await listSteps(deps, child)).steps.map(({ id }) => id));
});

test('references of a fork, and of a fork of a fork, reach back to the steps that were kept', async () => {
  const { deps } = inMemoryWorker(engine);
  const later = { name: 'c', args: { effect: 'read', wanted: { $from: 'a', pointer: '/count' } as never } };
  const runId = await finished(deps, specOf([[read('a')], [read('b')], [later]]));
  const { runId: child } = await fork(deps, runId, 1);
  await deliverAll(deps);
  const { runId: grandchild } = await fork(deps, child, 1);
  await deliverAll(deps);
  expect(await namesOf(child)).toEqual(['b succeeded', 'c succeeded']);
  expect(await namesOf(grandchild)).toEqual(['c succeeded']);
  const value = async (id: string) => (await listSteps(deps, id)).steps.at(-1)?.args;
  expect(await value(grandchild)).toEqual(await value(runId));
});

test("a model's conversation continues where the fork left it, over generations", async () => {
  const seen = new Map<string, PastTurn[]>();
  const model: Planner = {
    async next(input) {
      const { turns: history } = await input.history();
      seen.set(input.runId, history);
      if (input.turn > 4) return { kind: 'finish', message: 'done' };
      const calls = ['x', 'y'].map((call_id) => ({ call_id, tool: 'count', args: { effect: 'workspace' } }));
      return { kind: 'calls', message: `turn ${input.turn}`, answer: { turn: input.turn }, calls };
    },
  };
  const { deps: plain } = inMemoryWorker(engine);
  const deps = { ...plain, planners: { ...plain.planners, model } };
  const goal = { planner: 'model', model: 'test/model', prompt: 'go' } as const;
  const runId = await finished(deps, { ...specOf([[read('unused')]]), goal });
  const said = (id: string) => seen.get(id)?.map(({ message, steps }) => `${message}: ${steps.length}`);
  expect(said(runId)).toEqual(['turn 1: 2', 'turn 2: 2', 'turn 3: 2', 'turn 4: 2']);

  // After the first step of turn 3: the turn is the same, its second call runs again.
  const { runId: child } = await fork(deps, runId, 5);
  await deliverAll(deps);
  expect(said(child)).toEqual(said(runId));
  const [parents, own] = [seen.get(runId) ?? [], seen.get(child) ?? []];
  expect(own.slice(0, 2)).toEqual(parents.slice(0, 2));
  expect(own[2]?.answer).toEqual(parents[2]?.answer);
  expect(own[2]?.steps[0]?.value).toEqual(parents[2]?.steps[0]?.value);
  expect(own[2]?.steps[1]?.id).not.toBe(parents[2]?.steps[1]?.id);

  const { runId: grandchild } = await fork(deps, child, 2);
  await deliverAll(deps);
  expect(seen.get(grandchild)?.slice(0, 3)).toEqual(own.slice(0, 3));
});

test('a fork may be given another plan, as long as what is kept stays the same', async () => {
  const { deps } = inMemoryWorker(engine);
  const runId = await finished(deps, specOf([[write('a')], [{ name: 'bad', args: { effect: 'read', fail: true } }]]));
  expect((await listSteps(deps, runId)).run.status).toBe('failed');
  const planOf = (spec: RunSpec) => (spec.goal.planner === 'scripted' ? spec.goal.plan : { groups: [] });
  const plan = planOf(specOf([[write('a')], [read('good')]]));
  const { runId: child } = await fork(deps, runId, 1, { plan, title: 'fixed' });
  await deliverAll(deps);
  expect((await listSteps(deps, child)).run).toMatchObject({ status: 'succeeded', header: { title: 'fixed' } });

  const logs = async () => JSON.stringify(await readLog(deps.redis, runId));
  const before = await logs();
  const other = planOf(specOf([[write('other')], [read('good')]]));
  await expect(fork(deps, runId, 1, { plan: other })).rejects.toMatchObject({ code: 'invalid_fork' });
  await expect(fork(deps, runId, 1, { model: 'a/b' })).rejects.toMatchObject({ code: 'invalid_fork' });
  await expect(fork(deps, runId, 9)).rejects.toMatchObject({ code: 'step_not_found' });
  await expect(fork(deps, runId, 'step_none')).rejects.toMatchObject({ code: 'step_not_found' });
  expect(await logs()).toBe(before);
});

test('a step that is not settled is no place to fork from', async () => {
  const { deps } = inMemoryWorker(engine);
  const policy = { rules: [{ match: {}, action: 'hold' }] };
  const runId = await finished(deps, specOf([[write('a')]], { policy }));
  await expect(fork(deps, runId, 1)).rejects.toMatchObject({ code: 'step_not_settled' });
});

test('a workspace is not discarded before its forks have their copy, and nothing forks from a discarded one', async () => {
  const { deps } = inMemoryWorker(engine);
  const runId = await finished(deps, specOf([[write('a')]]));
  const { runId: child } = await fork(deps, runId, 1);
  await expect(requestDiscarding(deps, runId, 'ann')).rejects.toMatchObject({ code: 'fork_pending' });
  await deliverAll(deps);
  const { runId: canceled } = await fork(deps, runId, 1);
  await requestCancel(deps, canceled, { by: 'ann' });
  await deliverAll(deps);
  await requestDiscarding(deps, runId, 'ann');
  await deliverAll(deps);
  expect((await listSteps(deps, runId)).run.publication).toBe('discarded');
  await expect(fork(deps, runId, 1)).rejects.toMatchObject({ code: 'workspace_discarded' });
  expect((await listSteps(deps, child)).run.status).toBe('succeeded');
});

test('the same fork asked for again, with its key, is the same run', async () => {
  const { deps } = inMemoryWorker(engine);
  const runId = await finished(deps, specOf([[write('a')]]));
  const request = { fromStep: 1, changes: {}, by: 'ann', idempotency: { key: 'k', body: { from_step: 1 } } };
  const first = await forkRun(deps, runId, request);
  expect(await forkRun(deps, runId, request)).toEqual({ runId: first.runId, created: false });
  await deliverAll(deps);
  expect((await listSteps(deps, first.runId)).run.status).toBe('succeeded');
});

test.each(['before', 'after'] as const)(
  'an API that dies %s any one command to Redis while it forks: asked again, there is one fork, and it runs',
  async (when) => {
    const points = killPoints();
    let commands = points.from;
    for (let faulted = true; faulted; commands += points.every) {
      const { deps, tree, treeOf } = inMemoryWorker(engine);
      const runId = await finished(deps, specOf([[write('a'), write('b')], [write('c')]]));
      const request = {
        ...{ fromStep: 1, changes: {}, by: 'ann' },
        idempotency: { key: `${when} ${commands}`, body: { from_step: 1 } },
      };
      const dying = dyingAt(deps, commands, when);
      await forkRun(dying.deps, runId, request).catch((error: unknown) => {
        if (!(error instanceof Died)) throw error;
      });
      faulted = dying.died();
      const { runId: child } = await forkRun(deps, runId, request);
      await sweepOnce(deps);
      await deliverAll(deps);
      const { run, steps } = await listSteps(deps, child);
      expect(run.status, `death at command ${commands}`).toBe('succeeded');
      expect(run.forked_from?.run_id).toBe(runId);
      expect(treeOf(child)).toEqual([tree[0], steps[1]?.id, steps[2]?.id]);
      await soundLog(deps, child);
      const forks = (await soundLog(deps, runId)).filter((event) => event.type === 'run.forked');
      expect(forks).toHaveLength(1);
    }
    expect(commands).toBeGreaterThan(10);
  },
);
