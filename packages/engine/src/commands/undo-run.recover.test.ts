import type { RunSpec } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { readLog } from '../log/index.ts';
import type { PastTurn, Planner } from '../ports/index.ts';
import { listSteps } from '../queries/list-steps.ts';
import { pendingApprovals } from '../testing/decide.ts';
import { Died, deliverAll, dyingAt, type InMemoryWorker, inMemoryWorker, specOf, sweepOnce } from '../testing/index.ts';
import { killPoints } from '../testing/kill-points.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { retryRun } from './retry-run.ts';
import { requestPause, requestResume } from './steer-run.ts';
import { submitRun } from './submit-run.ts';
import { undoSteps } from './undo-run.ts';

const engine = useTestEngine();

const write = (name: string) => ({ name, args: { effect: 'workspace' } });
const undo = (deps: InMemoryWorker['deps'], runId: string, toStep: string | number, keepExternalEffects = false) =>
  undoSteps(deps, runId, { toStep, keepExternalEffects, by: 'test' });

const namesOf = async (runId: string) =>
  (await listSteps(engine.deps, runId)).steps.map(({ call, status }) => `${call.name} ${status}`);

/** A run that stands paused before its group `at`, from 1. */
async function pausedBefore(faults: InMemoryWorker, spec: RunSpec, at: number): Promise<string> {
  const { deps } = faults;
  const { scripted } = deps.planners;
  const planner: Planner = {
    async next(input, signal) {
      if (input.turn === at) await requestPause(deps, input.runId, 'ann');
      return scripted.next(input, signal);
    },
  };
  const { runId } = await submitRun(deps, { spec, by: 'test' });
  await deliverAll({ ...deps, planners: { ...deps.planners, scripted: planner } });
  expect((await listSteps(deps, runId)).run.status).toBe('paused');
  return runId;
}

test('undone steps leave files and plan; a resumed run makes them again', async () => {
  const faults = inMemoryWorker(engine);
  const { deps, tree } = faults;
  const runId = await pausedBefore(faults, specOf([[write('a')], [write('b')], [write('c')], [write('d')]]), 4);
  const [a] = tree;
  const undone = await undo(deps, runId, 1);
  expect(undone).toHaveLength(2);
  await deliverAll(deps);
  expect(tree).toEqual([a]);
  expect(await namesOf(runId)).toEqual(['a succeeded', 'b undone', 'c undone']);
  const { run: idle } = await listSteps(deps, runId);
  expect(idle).toMatchObject({ status: 'paused', turn: 1 });
  expect(idle).not.toHaveProperty('restore');
  await requestResume(deps, runId, { by: 'ann' });
  await deliverAll(deps);
  const { run, steps } = await listSteps(deps, runId);
  expect(run.status).toBe('succeeded');
  expect(tree).toEqual(steps.filter((step) => step.status === 'succeeded').map((step) => step.id));
  expect(tree).toHaveLength(4);
  await soundLog(deps, runId);
});

test('within a turn the later calls are undone, and made again as they were planned', async () => {
  const faults = inMemoryWorker(engine);
  const { deps, tree } = faults;
  const wrong = { name: 'wrong', tool: 'none', args: {} };
  const spec = specOf([[write('a'), write('b'), wrong], [write('c')]], { onError: 'continue' });
  const runId = await pausedBefore(faults, spec, 2);
  await undo(deps, runId, 1);
  await requestResume(deps, runId, { by: 'ann' });
  await deliverAll(deps);
  expect((await namesOf(runId)).sort()).toEqual(
    ['a succeeded', 'b undone', 'wrong undone', 'b succeeded', 'wrong failed', 'c succeeded'].sort(),
  );
  expect(tree).toHaveLength(3);
  await soundLog(deps, runId);
});

test('nothing of the run starts before its files are what the log says', async () => {
  const faults = inMemoryWorker(engine);
  const { deps, tree, executions } = faults;
  const runId = await pausedBefore(faults, specOf([[write('a')], [write('b')], [write('c')]]), 3);
  await undo(deps, runId, 1);
  await requestResume(deps, runId, { by: 'ann' });
  const ran = executions.length;
  const [restore] = await deps.queues.workspaces.getJobs(['waiting', 'prioritized']);
  expect(restore?.data.run_id).toBe(runId);
  await restore?.remove();
  await deliverAll({ ...deps, queues: { ...deps.queues, wakeWorkspace: async () => {} } });
  expect(executions).toHaveLength(ran);
  await sweepOnce(deps);
  await deliverAll(deps);
  expect(tree).toHaveLength(3);
  expect((await listSteps(deps, runId)).run.status).toBe('succeeded');
});

test('an approval of an undone step is closed, and a decision about it comes too late', async () => {
  const faults = inMemoryWorker(engine);
  const { deps } = faults;
  const policy = { rules: [{ match: { effect: 'workspace' }, action: 'hold' }] };
  const { runId } = await submitRun(deps, {
    spec: specOf([[{ name: 'look', args: { effect: 'read' } }], [write('a')]], { policy }),
    by: 'test',
  });
  await deliverAll(deps);
  await requestPause(deps, runId, 'ann');
  await undo(deps, runId, 1);
  expect(await deps.queues.steps.getDelayed()).toEqual([]);
  const { approvals, run } = await listSteps(deps, runId);
  expect(approvals.map(({ status }) => status)).toEqual(['canceled']);
  expect(run.parked).toBe(0);
  expect(await pendingApprovals(deps, runId)).toEqual([]);
  await requestResume(deps, runId, { by: 'ann' });
  await deliverAll(deps);
  expect((await listSteps(deps, runId)).run).toMatchObject({ status: 'waiting', parked: 1 });
  await soundLog(deps, runId);
});

test('effects outside of the workspace are not undone silently', async () => {
  const faults = inMemoryWorker(engine);
  const { deps } = faults;
  const policy = { rules: [{ match: {}, action: 'allow' }] };
  const external = { name: 'sent', args: { effect: 'external' } };
  const runId = await pausedBefore(faults, specOf([[write('a')], [external], [write('b')]], { policy }), 3);
  const before = await readLog(deps.redis, runId);
  await expect(undo(deps, runId, 1)).rejects.toMatchObject({ code: 'external_effects' });
  expect(await readLog(deps.redis, runId)).toEqual(before);
  await undo(deps, runId, 1, true);
  expect(await namesOf(runId)).toEqual(['a succeeded', 'sent undone']);
});

test('only a paused run is undone, to a step that it has', async () => {
  const faults = inMemoryWorker(engine);
  const { deps } = faults;
  const { runId } = await submitRun(deps, { spec: specOf([[write('a')]]), by: 'test' });
  await deliverAll(deps);
  const next = expect.stringMatching(/undone.*Fork this run/);
  await expect(undo(deps, runId, 0)).rejects.toMatchObject({ code: 'run_not_paused', next });
  const paused = await pausedBefore(faults, specOf([[write('a')], [write('b')]]), 2);
  await expect(undo(deps, paused, 2)).rejects.toMatchObject({ code: 'step_not_found' });
  expect(await undo(deps, paused, 1)).toEqual([]);
});

test('a retry names the step that it was asked for', async () => {
  const faults = inMemoryWorker(engine);
  const { deps } = faults;
  const runId = await pausedBefore(faults, specOf([[write('a')], [write('b')]]), 2);
  const retry = (id: string, fromStep: number) =>
    retryRun(deps, id, { fromStep, keepExternalEffects: false, by: 'ann' });
  await expect(retry(runId, 99)).rejects.toMatchObject({
    code: 'step_not_found',
    message: expect.stringMatching(/no step 99$/),
  });
  await expect(retry(runId, 2)).rejects.toMatchObject({ message: expect.stringMatching(/no step 2$/) });
  const empty = await pausedBefore(faults, specOf([[write('a')]]), 1);
  await expect(retry(empty, 1)).rejects.toMatchObject({ code: 'step_not_found' });
});

test('a model does not see what was undone', async () => {
  const seen: PastTurn[][] = [];
  let pauseAt = 3;
  const { deps: plain } = inMemoryWorker(engine);
  const model: Planner = {
    async next(input) {
      if (input.turn === pauseAt) await requestPause(plain, input.runId, 'ann');
      seen.push((await input.history()).turns);
      if (input.turn > 3) return { kind: 'finish', message: 'done' };
      const calls = ['x', 'y'].map((call_id) => ({ call_id, tool: 'count', args: { effect: 'workspace' } }));
      return { kind: 'calls', message: `turn ${input.turn}, look ${seen.length}`, answer: {}, calls };
    },
  };
  const deps = { ...plain, planners: { ...plain.planners, model } };
  const goal = { planner: 'model', model: 'test/model', prompt: 'go' } as const;
  const { runId } = await submitRun(deps, { spec: { ...specOf([[write('unused')]]), goal }, by: 'test' });
  await deliverAll(deps);
  pauseAt = 0;
  await undo(deps, runId, 1);
  await requestResume(deps, runId, { by: 'ann' });
  await deliverAll(deps);
  const last = seen.at(-1) ?? [];
  expect(last.map(({ turn, steps }) => `${turn}: ${steps.length}`)).toEqual(['1: 2', '2: 2', '3: 2']);
  const { steps } = await listSteps(deps, runId);
  const undone = steps.filter((step) => step.status === 'undone').map((step) => step.id);
  expect(undone).toHaveLength(3);
  expect(last.flatMap((turn) => turn.steps.map((step) => step.id))).not.toEqual(expect.arrayContaining([undone[0]]));
  await soundLog(deps, runId);
});

test.each(['before', 'after'] as const)(
  'a process that dies %s any Redis command of an undo: the files match the log',
  async (when) => {
    const points = killPoints();
    let commands = points.from;
    for (let faulted = true; faulted; commands += points.every) {
      const faults = inMemoryWorker(engine);
      const { deps, tree } = faults;
      const runId = await pausedBefore(faults, specOf([[write('a'), write('b')], [write('c')], [write('d')]]), 3);
      const dying = dyingAt(deps, commands, when);
      await undo(dying.deps, runId, 1).catch((error: unknown) => {
        if (!(error instanceof Died)) throw error;
      });
      // A worker that also dies continues what the API left undone.
      await deliverAll(deps, () => (dying.died() ? deps : dying.deps));
      faulted = dying.died();
      await undo(deps, runId, 1);
      await requestResume(deps, runId, { by: 'ann' });
      await sweepOnce(deps);
      await deliverAll(deps);
      const { run, steps } = await listSteps(deps, runId);
      expect(run.status, `death at command ${commands}`).toBe('succeeded');
      expect(tree).toEqual(steps.filter((step) => step.status === 'succeeded').map((step) => step.id));
      await soundLog(deps, runId);
    }
    expect(commands).toBeGreaterThan(10);
  },
);
