import { afterAll, beforeAll, expect, test } from 'vitest';
import { submitRun } from '../commands/submit-run.ts';
import { listAttempts } from '../queries/list-attempts.ts';
import { listSteps } from '../queries/list-steps.ts';
import type { Faults } from '../testing/faults.ts';
import { deliverAll, type InMemoryWorker, inMemoryWorker, specOf } from '../testing/index.ts';
import { startTestEngine, type TestEngine } from '../testing/real-redis.ts';
import { soundLog } from '../testing/sound-log.ts';
import { decideApproval } from './decide-approval.ts';
import { listApprovals } from './list-approvals.ts';

let engine: TestEngine;
beforeAll(async () => {
  engine = await startTestEngine();
});
afterAll(() => engine.stop());

const write = { name: 'a', args: { effect: 'workspace' } };
const allowAll = { rules: [{ match: {}, action: 'allow' as const }] };

async function start(faults: Faults, groups = [[write]], policy: object = allowAll) {
  const worker = inMemoryWorker(engine, faults);
  const { runId } = await submitRun(worker.deps, { spec: specOf(groups, { policy }), by: 'test' });
  await deliverAll(worker.deps);
  return { ...worker, runId };
}
const look = async (runId: string) => {
  const { run, steps } = await listSteps(engine.deps, runId);
  return { run: run.status, steps: steps.map(({ status }) => status) };
};
async function decide({ deps }: Pick<InMemoryWorker, 'deps'>, runId: string, decision: 'approve' | 'reject') {
  const [view] = (await listApprovals(deps, { run_id: runId }, { limit: 1 })).items;
  await decideApproval(deps, view?.approval.id ?? '', { decision, action_digest: view?.digest ?? '', by: 'ann' });
  await deliverAll(deps);
  return view;
}

test('parks a call that the policy allows when the tool has a question, and runs it after an approval', async () => {
  const run = await start({ asks: () => 'a file would be overwritten' });
  expect(await look(run.runId)).toEqual({ run: 'waiting', steps: ['parked'] });
  expect(run.executions).toEqual([]);
  const view = await decide(run, run.runId, 'approve');
  expect(view?.approval.request.reason).toBe('a file would be overwritten');
  expect(await look(run.runId)).toEqual({ run: 'succeeded', steps: ['succeeded'] });
  expect(run.executions).toHaveLength(1);
  await soundLog(run.deps, run.runId);
});

test('asks again when the attempt has begun: nothing ran, and the next attempt runs once', async () => {
  let looks = 0;
  const run = await start({ asks: () => (++looks === 2 ? 'the file appeared' : undefined) });
  expect(await look(run.runId)).toEqual({ run: 'waiting', steps: ['parked'] });
  expect(run.executions).toEqual([]);
  expect(run.treeOf(run.runId)).toEqual([]);
  const { steps } = await listSteps(run.deps, run.runId);
  const [attempt] = await listAttempts(run.deps, run.runId, steps[0]?.id ?? '');
  expect(attempt).toMatchObject({ number: 1, end: 'held', reason: { message: 'the file appeared' } });
  await decide(run, run.runId, 'approve');
  expect(await look(run.runId)).toEqual({ run: 'succeeded', steps: ['succeeded'] });
  expect(run.executions.map(({ attempt }) => attempt)).toEqual([2]);
  await soundLog(run.deps, run.runId);
});

test('a call that was held in its attempt and rejected never runs, and the next call writes', async () => {
  let looks = 0;
  const run = await start(
    { asks: () => (++looks === 2 ? 'the file appeared' : undefined) },
    [[write], [{ ...write, name: 'b' }]],
    {
      ...allowAll,
    },
  );
  await decide(run, run.runId, 'reject');
  expect(await look(run.runId)).toMatchObject({ steps: ['rejected'] });
  expect(run.executions).toEqual([]);
  await soundLog(run.deps, run.runId);
});

test('a question never relaxes a denial, and a hold of the policy keeps its own reason', async () => {
  const asks = () => 'the tool asks';
  const denied = await start({ asks }, [[write]], { rules: [{ match: {}, action: 'deny', reason: 'never' }] });
  expect(await look(denied.runId)).toMatchObject({ steps: ['rejected'] });
  const held = await start({ asks }, [[write]], { rules: [{ match: {}, action: 'hold', reason: 'the policy holds' }] });
  const [view] = (await listApprovals(held.deps, { run_id: held.runId }, { limit: 1 })).items;
  expect(view?.approval.request.reason).toContain('the policy holds');
});

test('parks each of several calls of one turn under an approval of its own', async () => {
  const reads = [1, 2, 3].map((n) => ({ name: `r${n}`, args: { effect: 'read' } }));
  let looks = 0;
  const run = await start({ asks: () => (++looks > 3 ? 'seen late' : undefined) }, [reads]);
  expect(await look(run.runId)).toEqual({ run: 'waiting', steps: ['parked', 'parked', 'parked'] });
  for (let n = 0; n < 3; n++) await decide(run, run.runId, 'approve');
  expect(await look(run.runId)).toEqual({ run: 'succeeded', steps: ['succeeded', 'succeeded', 'succeeded'] });
  expect(run.executions).toHaveLength(3);
  await soundLog(run.deps, run.runId);
});

test('an external call whose question could not be asked runs again without a person: nothing had taken effect', async () => {
  let looks = 0;
  const asks = () => {
    if (++looks === 2) throw Object.assign(new Error('the sandbox did not start'), { retryable: true });
    return undefined;
  };
  const { deps, executions } = inMemoryWorker(engine, { asks });
  const spec = specOf([[{ name: 'x', args: { effect: 'external' } }]], { policy: allowAll });
  const { runId } = await submitRun(deps, { spec, by: 'test' });
  await expect(deliverAll(deps)).rejects.toThrow('the sandbox did not start');
  await deliverAll(deps);
  expect(await look(runId)).toEqual({ run: 'succeeded', steps: ['succeeded'] });
  expect(executions).toHaveLength(1);
});
