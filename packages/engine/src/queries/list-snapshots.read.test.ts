import { expect, test } from 'vitest';
import { requestPause, submitRun, undoSteps } from '../commands/index.ts';
import { deliverAll, inMemoryWorker, specOf } from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { listSnapshots } from './list-snapshots.ts';
import { listSteps } from './list-steps.ts';
import { listAgents } from './list-tree.ts';

const engine = useTestEngine({ fresh: true });

const write = { args: { effect: 'workspace' } };
const held = { args: { effect: 'external' } };
const shell = { name: 'shell', args: { effect: 'workspace', background: 'hello' } };
const wait = { args: { effect: 'read', awaits: { $from: 'shell', pointer: '/task_id' } } };
const undo = { keepExternalEffects: false, by: 'ann' };

test('lists what steps and background commands left, also when the run has other files now', async () => {
  const { deps } = inMemoryWorker(engine);
  const { runId } = await submitRun(deps, { spec: specOf([[shell], [wait], [write], [held]]), by: 'test' });
  await deliverAll(deps);
  const { run, steps, tasks } = await listSteps(deps, runId);
  const [begins, , writes] = steps.map(({ id }) => id);
  const [task] = tasks.map(({ id }) => id);
  const left = (await listSnapshots(deps, run)).map(({ by, current, undone }) => ({ by, current, undone }));
  const alive = { current: false, undone: false };
  expect(left).toEqual([
    { by: null, ...alive },
    { by: { step: begins }, ...alive },
    { by: { task }, ...alive },
    { by: { step: writes }, undone: false, current: true },
  ]);

  await requestPause(deps, runId, 'ann');
  await undoSteps(deps, runId, { toStep: 2, ...undo });
  const after = (await listSnapshots(deps, run)).map(({ current, undone }) => ({ current, undone }));
  expect(after).toEqual([alive, alive, { undone: false, current: true }, { undone: true, current: false }]);
  await soundLog(deps, runId);
});

test('a sub-agent that is undone to its beginning has the files that it began with', async () => {
  const { deps, treeOf } = inMemoryWorker(engine);
  const agent = {
    args: { effect: 'read', agent: { groups: [write, held].map((step) => ({ steps: [{ tool: 'count', ...step }] })) } },
  };
  const { runId } = await submitRun(deps, { spec: specOf([[write], [agent]]), by: 'test' });
  await deliverAll(deps);
  const { run } = await listSteps(deps, runId);
  const [child] = await listAgents(deps, run);
  if (child === undefined) throw new Error('no sub-agent began');
  expect(treeOf(child.id)).toHaveLength(2);
  await requestPause(deps, child.id, 'ann');
  await undoSteps(deps, child.id, { toStep: 0, ...undo });
  await deliverAll(deps);
  expect(treeOf(child.id)).toEqual(treeOf(runId));
  expect(treeOf(runId)).toHaveLength(1);
});
