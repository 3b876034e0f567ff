import { expect, test } from 'vitest';
import { decideApproval } from '../approvals/index.ts';
import { submitRun } from '../commands/index.ts';
import { handleStep } from '../handlers/handle-step.ts';
import { handleTask } from '../handlers/handle-task.ts';
import { handleTurn } from '../handlers/handle-turn.ts';
import { readLog, readRun, readTasks } from '../log/index.ts';
import { listSteps } from '../queries/index.ts';
import { approveFirst, pendingApprovals } from '../testing/decide.ts';
import { calm } from '../testing/deliver-all.ts';
import { deliverAll, dyingAt, type InMemoryWorker, inMemoryWorker, specOf, sweepOnce } from '../testing/index.ts';
import { killPoints } from '../testing/kill-points.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';

const engine = useTestEngine();

const policy = { rules: [{ match: { effect: 'external' }, action: 'hold' }] };
const command = { name: 'begun', args: { effect: 'external', background: 'approved' } };
const allowed = { args: { effect: 'workspace', background: 'beside' } };
const write = { args: { effect: 'workspace' } };
const wait = { args: { effect: 'read', awaits: { $from: 'begun', pointer: '/task_id' } } };

const typesOf = async ({ deps }: InMemoryWorker, runId: string) =>
  (await readLog(deps.redis, runId, { limit: 1000 })).map(({ type }) => type);

/** A run whose background command was approved, and whose call has asked for it. */
async function asked(one: InMemoryWorker, after: object = write) {
  const { deps } = one;
  const { runId } = await submitRun(deps, {
    spec: specOf([[command], [after as typeof write]], { policy }),
    by: 'test',
  });
  await handleTurn(deps, { run_id: runId, turn: 1 }, calm());
  const stepId = (await listSteps(deps, runId)).steps[0]?.id ?? '';
  await approveFirst(one.deps, runId);
  await handleStep(deps, { run_id: runId, step_id: stepId }, calm());
  const [task] = await readTasks(deps.redis, runId);
  return { runId, stepId, taskId: task?.id ?? '' };
}

test('the call of an approved background command keeps later calls away from the files until the command begins', async () => {
  const met: string[][] = [];
  const one = inMemoryWorker(engine, { task: async () => void met.push([...one.tree]) });
  const { runId, stepId, taskId } = await asked(one);
  expect((await listSteps(one.deps, runId)).steps.map(({ status }) => status)).toEqual(['deferred']);
  expect(await readRun(one.deps.redis, runId)).toMatchObject({ writer: stepId, turn: 1 });
  await deliverAll(one.deps);
  expect(met).toEqual([[stepId, taskId]]);
  expect(await readRun(one.deps.redis, runId)).toMatchObject({ status: 'succeeded', writer: '' });
  const types = await typesOf(one, runId);
  expect(types.indexOf('step.succeeded')).toBeGreaterThan(types.indexOf('task.started'));
  expect(types.indexOf('step.succeeded')).toBeLessThan(types.indexOf('task.exited'));
  await soundLog(one.deps, runId);
});

test('it is not begun beside another background command that is open', async () => {
  const one = inMemoryWorker(engine);
  const spec = specOf([[allowed], [command]], { policy, onError: 'continue' });
  const { runId } = await submitRun(one.deps, { spec, by: 'test' });
  await handleTurn(one.deps, { run_id: runId, turn: 1 }, calm());
  const step = async (at: number) => (await listSteps(one.deps, runId)).steps[at];
  await handleStep(one.deps, { run_id: runId, step_id: (await step(0))?.id ?? '' }, calm());
  await handleTurn(one.deps, { run_id: runId, turn: 2 }, calm());
  await approveFirst(one.deps, runId);
  await handleStep(one.deps, { run_id: runId, step_id: (await step(1))?.id ?? '' }, calm());
  const tasks = await readTasks(one.deps.redis, runId);
  expect(tasks).toHaveLength(1);
  const error = (await step(1))?.outcome?.error;
  expect(error).toMatchObject({
    code: 'ETASKSOPEN',
    next: expect.stringContaining('with wait_for, or end them with end_task;'),
  });
  expect(error?.message).toContain(tasks[0]?.id);
  await deliverAll(one.deps);
  expect(await readRun(one.deps.redis, runId)).toMatchObject({ status: 'succeeded', writer: '' });
});

test('it does not begin on files that a command which was lost has changed', async () => {
  const one = inMemoryWorker(engine);
  const { runId, taskId } = await asked(one);
  // As when a command wrote after the look, and its worker ended it before the log was read.
  one.treeOf(runId).push('EVIL');
  await one.deps.redis.hset(`hp:{${runId}}:state`, 'uncaptured', '1');
  await handleTask(one.deps, { run_id: runId, task_id: taskId }, calm());
  const [task] = await readTasks(one.deps.redis, runId);
  expect(task).toMatchObject({ status: 'failed', outcome: { reason: { code: 'EACTIONCHANGED' } } });
  expect(one.treeOf(runId)).not.toContain(taskId);
});

test.each(['before', 'after'] as const)(
  'a worker that dies %s any command of Redis leaves a command that met what was approved, or none',
  async (when) => {
    const points = killPoints();
    for (let n = points.from; ; n += points.every) {
      await engine.deps.redis.flushall();
      const met: string[][] = [];
      const one = inMemoryWorker(engine, { task: async () => void met.push([...one.tree]) });
      const { runId, stepId, taskId } = await asked(one, wait);
      const dying = dyingAt(one.deps, n, when);
      await deliverAll(one.deps, () => (dying.died() ? one.deps : dying.deps));
      for (let round = 0; round < 10 && (await readRun(one.deps.redis, runId))?.status !== 'succeeded'; round++) {
        await sweepOnce(one.deps);
        await deliverAll(one.deps);
      }
      expect(await readRun(one.deps.redis, runId)).toMatchObject({ status: 'succeeded', writer: '' });
      for (const files of met) expect(files).toEqual([stepId, taskId]);
      expect(met.length).toBeLessThan(2);
      expect(one.executions.filter((execution) => execution.stepId === stepId)).toHaveLength(1);
      await soundLog(one.deps, runId);
      if (!dying.died()) break;
    }
  },
);

const external = { tool: 'count', args: { effect: 'external' } };
const agent = (name: string) => ({ name, args: { effect: 'read', agent: { groups: [{ steps: [external] }] } } });
const merge = (name: string) => ({ args: { effect: 'workspace', merges: { $from: name, pointer: '/task_id' } } });
const holdMerges = {
  rules: [
    { match: { effect: 'workspace' }, action: 'hold' },
    { match: { effect: 'external' }, action: 'allow' },
  ],
};

test('a merge is bound to what the sub-agent made: an edit that merges another one asks again and shows that', async () => {
  const one = inMemoryWorker(engine);
  const { deps } = one;
  const spec = specOf([[agent('a'), agent('b')], [merge('a')]], { policy: holdMerges });
  const { runId } = await submitRun(deps, { spec, by: 'test' });
  await deliverAll(deps);
  const [shown] = await pendingApprovals(deps, runId);
  if (!shown) throw new Error('nothing is held');
  const [a, b] = await readTasks(deps.redis, runId);
  const used = async (task: typeof a) => {
    const child = await readRun(deps.redis, task?.about.child ?? '');
    return `${child?.id} ${child?.snapshot}`;
  };
  expect(shown.approval.request.uses).toBe(await used(a));
  const args = { effect: 'workspace', merges: b?.id ?? '' };
  const edit = { decision: 'edit' as const, action_digest: shown.digest, args, by: 'ann' };
  await decideApproval(deps, shown.approval.id, edit);
  await deliverAll(deps);
  const [again] = await pendingApprovals(deps, runId);
  expect(again?.approval.request.uses).toBe(await used(b));
  expect(again?.approval.request.changed).toMatchObject({ approval_id: shown.approval.id, uses: await used(b) });
  expect(again?.digest).not.toBe(shown.digest);
  expect(one.tree).toEqual([]);
  await approveFirst(one.deps, runId);
  await deliverAll(deps);
  expect(await readRun(deps.redis, runId)).toMatchObject({ status: 'succeeded' });
  const { steps } = await listSteps(deps, (await readTasks(deps.redis, runId))[1]?.about.child ?? '');
  expect(one.tree).toContain(steps[0]?.id);
  await soundLog(deps, runId);
});
