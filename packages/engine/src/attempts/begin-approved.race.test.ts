import { expect, test } from 'vitest';
import { decideApproval, listApprovals, viewApproval } from '../approvals/index.ts';
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
const held = { args: { effect: 'external' } };
const shell = { args: { effect: 'read', background: 'beside' } };

/** A run whose held call was approved while a background command is queued. */
async function approvedBeside(one: InMemoryWorker) {
  const { deps } = one;
  const { runId } = await submitRun(deps, { spec: specOf([[shell], [held]], { policy }), by: 'test' });
  await handleTurn(deps, { run_id: runId, turn: 1 }, calm());
  const step = async (at: number) => (await listSteps(deps, runId)).steps[at]?.id ?? '';
  await handleStep(deps, { run_id: runId, step_id: await step(0) }, calm());
  await handleTurn(deps, { run_id: runId, turn: 2 }, calm());
  const view = await approveFirst(one.deps, runId);
  const [task] = await readTasks(deps.redis, runId);
  return { runId, stepId: await step(1), taskId: task?.id ?? '', view };
}

const typesOf = async ({ deps }: InMemoryWorker, runId: string) =>
  (await readLog(deps.redis, runId, { limit: 1000 })).map(({ type }) => type);

test('a look at the files is taken only when a background command may have changed them', async () => {
  const one = inMemoryWorker(engine);
  const looks: string[] = [];
  const { differenceFrom } = one.deps.workspaces;
  one.deps.workspaces.differenceFrom = (input) => {
    looks.push(input.decided);
    return differenceFrom(input);
  };
  const { runId } = await submitRun(one.deps, {
    spec: specOf([[{ args: { effect: 'workspace' } }], [held]], { policy }),
    by: 'test',
  });
  await deliverAll(one.deps);
  await approveFirst(one.deps, runId);
  await deliverAll(one.deps);
  expect(await readRun(one.deps.redis, runId)).toMatchObject({ status: 'succeeded', uncaptured: 0 });
  expect(looks).toEqual([]);

  const beside = await approvedBeside(one);
  await handleTask(one.deps, { run_id: beside.runId, task_id: beside.taskId }, calm());
  expect(await readRun(one.deps.redis, beside.runId)).toMatchObject({ uncaptured: 1 });
  await handleStep(one.deps, { run_id: beside.runId, step_id: beside.stepId }, calm());
  expect(looks).toHaveLength(1);
});

test('a command that was lost with its changes left in the tree is noticed although no task is open', async () => {
  const stop = new AbortController();
  const one = inMemoryWorker(engine, { task: async () => stop.abort('shutdown') });
  const beside = await approvedBeside(one);
  const ending = { signal: stop.signal, lastTry: false };
  await handleTask(one.deps, { run_id: beside.runId, task_id: beside.taskId }, ending);
  expect(await readRun(one.deps.redis, beside.runId)).toMatchObject({ open_tasks: 0, uncaptured: 1 });
  await handleStep(one.deps, { run_id: beside.runId, step_id: beside.stepId }, calm());
  const again = (await pendingApprovals(one.deps, beside.runId))[0];
  expect(again?.approval.request.changed).toMatchObject({ changes: [{ path: beside.taskId, change: 'added' }] });
  expect(one.treeOf(beside.runId)).not.toContain(beside.stepId);
});

test('a command that begins after the look waits, or the attempt does not begin', async () => {
  const one = inMemoryWorker(engine);
  const beside = await approvedBeside(one);
  // The log has it begin between the read of the run and the start of the attempt.
  const { inspect } = one.deps.workspaces;
  let begun = false;
  one.deps.workspaces.inspect = async (input) => {
    const state = await inspect(input);
    if (begun) return state;
    begun = true;
    await handleTask(one.deps, { run_id: beside.runId, task_id: beside.taskId }, calm());
    return state;
  };
  await handleStep(one.deps, { run_id: beside.runId, step_id: beside.stepId }, calm());
  expect(one.treeOf(beside.runId)).not.toContain(beside.stepId);
  const { items } = await listApprovals(one.deps, { run_id: beside.runId }, { limit: 5 });
  expect(items[0]?.approval.id).not.toBe(beside.view.approval.id);
});

test('both approvals show what changed; the first decision stays as it was', async () => {
  const one = inMemoryWorker(engine);
  const beside = await approvedBeside(one);
  await handleTask(one.deps, { run_id: beside.runId, task_id: beside.taskId }, calm());
  await handleStep(one.deps, { run_id: beside.runId, step_id: beside.stepId }, calm());
  const { digest, approval } = beside.view;
  const before = await viewApproval(one.deps, approval.id);
  const [now] = await pendingApprovals(one.deps, beside.runId);
  expect(now?.digest).not.toBe(digest);
  expect(before.approval).toMatchObject({ status: 'approved', superseded: now?.approval.id });
  expect(before.digest).toBe(digest);
  expect(now?.approval.request.changed?.approval_id).toBe(approval.id);
  // The same decision again gets the answer of the first, which says so too.
  const repeated = { decision: 'approve' as const, action_digest: digest, by: 'ann' };
  expect((await decideApproval(one.deps, approval.id, repeated)).approval.superseded).toBe(now?.approval.id);
  expect(one.executions.filter(({ stepId }) => stepId === beside.stepId)).toEqual([]);
  expect(await typesOf(one, beside.runId)).toContain('workspace.drifted');
  await soundLog(one.deps, beside.runId);
});

test.each(['before', 'after'] as const)(
  'a worker that dies %s any command of Redis leaves one effect, and never one on files that no person saw',
  async (when) => {
    const points = killPoints();
    for (let n = points.from; ; n += points.every) {
      await engine.deps.redis.flushall();
      const shown = new Map<string, string[]>();
      const one = inMemoryWorker(engine, {
        execute: ({ runId, stepId }) => {
          if (!shown.has(runId)) return;
          expect(one.treeOf(runId).filter((entry) => entry !== stepId)).toEqual(shown.get(runId));
        },
      });
      const beside = await approvedBeside(one);
      await handleTask(one.deps, { run_id: beside.runId, task_id: beside.taskId }, calm());
      const dying = dyingAt(one.deps, n, when);
      await deliverAll(one.deps, () => (dying.died() ? one.deps : dying.deps));
      for (let round = 0; round < 10; round++) {
        await sweepOnce(one.deps);
        await deliverAll(one.deps);
        if ((await readRun(one.deps.redis, beside.runId))?.status === 'succeeded') break;
        shown.set(beside.runId, [...one.treeOf(beside.runId)]);
        // A call in doubt is asked about as well.
        for (const { approval, digest } of await pendingApprovals(one.deps)) {
          const decision = approval.request.kind === 'indeterminate' ? ('reject' as const) : ('approve' as const);
          await decideApproval(one.deps, approval.id, { decision, action_digest: digest, by: 'ann' });
        }
      }
      const run = await readRun(one.deps.redis, beside.runId);
      expect(['succeeded', 'failed']).toContain(run?.status);
      expect(one.executions.filter(({ stepId }) => stepId === beside.stepId)).toHaveLength(1);
      await soundLog(one.deps, beside.runId);
      if (!dying.died()) break;
    }
  },
);
