import { type OperatorPolicy, operatorPolicySchema } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { forkRun, requestPublication, submitRun } from '../commands/index.ts';
import { readSpec } from '../log/index.ts';
import { listSteps } from '../queries/index.ts';
import { pendingApprovals } from '../testing/decide.ts';
import { inForce } from '../testing/in-force.ts';
import { deliverAll, type InMemoryWorker, inMemoryWorker, specOf } from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { decideApproval } from './decide-approval.ts';

const engine = useTestEngine();

const allowAll = { rules: [{ match: {}, action: 'allow' as const }] };
const operator = (action: 'hold' | 'deny'): OperatorPolicy =>
  operatorPolicySchema.parse({ rules: [{ match: { effect: 'workspace' }, action }] });
const writing = [[{ name: 'a', args: { effect: 'workspace' } }]];

const under = (deps: InMemoryWorker['deps'], operatorPolicy: OperatorPolicy | undefined): InMemoryWorker['deps'] => ({
  ...deps,
  operatorPolicy: () => operatorPolicy && inForce(operatorPolicy),
});
async function submit(deps: InMemoryWorker['deps'], groups = writing): Promise<string> {
  const { runId } = await submitRun(deps, { spec: specOf(groups, { policy: allowAll }), by: 'test' });
  return runId;
}
const look = async (runId: string) => {
  const { run, steps } = await listSteps(engine.deps, runId);
  return { run: run.status, steps: steps.map(({ status }) => status), publication: run.publication };
};
const pending = (runId: string) => pendingApprovals(engine.deps, runId);

test.each([
  ['hold', { run: 'waiting', steps: ['parked'] }],
  ['deny', { run: 'failed', steps: ['rejected'] }],
] as const)('%s of the operator binds a run that allows everything', async (action, expected) => {
  const { deps, executions } = inMemoryWorker(engine);
  const runId = await submit(under(deps, operator(action)));
  // The worker that judges knows nothing of it: the run has recorded it.
  await deliverAll(deps);
  expect(await look(runId)).toMatchObject(expected);
  expect(executions).toEqual([]);
  await soundLog(deps, runId);
});

test('of a worker alone it binds, too, and what it lets through it lets through', async () => {
  const { deps, executions } = inMemoryWorker(engine);
  const runId = await submit(deps);
  await deliverAll(under(deps, operator('hold')));
  expect(await look(runId)).toMatchObject({ run: 'waiting', steps: ['parked'] });
  expect(executions).toEqual([]);
  const [view] = await pending(runId);
  const decision = { decision: 'approve' as const, action_digest: view?.digest ?? '', by: 'ann' };
  await decideApproval(deps, view?.approval.id ?? '', decision);
  await deliverAll(under(deps, operator('hold')));
  expect(await look(runId)).toMatchObject({ run: 'succeeded', steps: ['succeeded'] });
});

test('a group that follows another is held like the first', async () => {
  const { deps, executions } = inMemoryWorker(engine);
  const runId = await submit(deps, [[{ name: 'r', args: { effect: 'read' } }], ...writing]);
  await deliverAll(under(deps, operator('hold')));
  expect(await look(runId)).toMatchObject({ steps: ['succeeded', 'parked'] });
  expect(executions).toHaveLength(1);
});

test('a call that was approved before the operator denied it does not run', async () => {
  const { deps, executions } = inMemoryWorker(engine);
  const runId = await submit(under(deps, operator('hold')));
  await deliverAll(deps);
  const [view] = await pending(runId);
  const decision = { decision: 'approve' as const, action_digest: view?.digest ?? '', by: 'ann' };
  await decideApproval(deps, view?.approval.id ?? '', decision);
  await deliverAll(under(deps, operator('deny')));
  expect(await look(runId)).toMatchObject({ run: 'failed', steps: ['failed'] });
  expect(executions).toEqual([]);
  await soundLog(deps, runId);
});

test('an edit to what the operator denies is refused', async () => {
  const { deps } = inMemoryWorker(engine);
  const held = operatorPolicySchema.parse({
    rules: [
      { match: { effect: 'external' }, action: 'deny' },
      { match: {}, action: 'hold' },
    ],
  });
  const runId = await submit(under(deps, held));
  await deliverAll(deps);
  const [view] = await pending(runId);
  const args = { effect: 'external' };
  const edit = { decision: 'edit' as const, action_digest: view?.digest ?? '', by: 'ann', args };
  await expect(decideApproval(deps, view?.approval.id ?? '', edit)).rejects.toMatchObject({ code: 'invalid_decision' });
});

test('a sub-agent and a fork are bound by the policy of the run that they come from, and by the one of now', async () => {
  const { deps, executions } = inMemoryWorker(engine);
  const [then, now] = [operator('hold'), operatorPolicySchema.parse({ publish: 'hold' })];
  const agent = {
    name: 's',
    args: { effect: 'read', agent: { groups: [{ steps: [{ tool: 'count', args: { effect: 'workspace' } }] }] } },
  };
  const runId = await submit(under(deps, then), [[agent]] as never);
  await deliverAll(under(deps, now));
  expect(executions.map(({ stepId }) => stepId)).toHaveLength(1);
  const approvals = (await pendingApprovals(engine.deps)).filter(({ run }) => {
    return run.parent?.run_id === runId;
  });
  expect(approvals).toHaveLength(1);
  const fork = await forkRun(under(deps, now), runId, {
    fromStep: 0,
    changes: { policy: { ...specOf(writing).policy, ...allowAll } },
    by: 'ann',
  });
  expect((await readSpec(deps, { id: fork.runId })).operator).toEqual([then, now]);
});

test('a publish is held', async () => {
  const { deps, published } = inMemoryWorker(engine);
  const runId = await submit(deps);
  await deliverAll(deps);
  await requestPublication(deps, runId, { by: 'ann', message: 'm' });
  await deliverAll(under(deps, operatorPolicySchema.parse({ publish: 'hold' })));
  expect(await look(runId)).toMatchObject({ publication: 'parked' });
  expect((await pending(runId))[0]?.approval.request.reason).toBe("the operator's policy holds a publish");
  expect(published).toEqual([]);
});
