import type { PolicyRule } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { submitRun } from '../commands/submit-run.ts';
import { readLog } from '../log/index.ts';
import { explainCall } from '../policies/explain-call.ts';
import { listSteps } from '../queries/list-steps.ts';
import { decideOn, pendingApprovals } from '../testing/decide.ts';
import type { Faults } from '../testing/faults.ts';
import { deliverAll, inMemoryWorker, specOf } from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { assertSoundVerdicts } from '../testing/sound-verdicts.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';

const engine = useTestEngine({ fresh: true });

const call = (name: string, more: object = {}) => ({ name, args: { effect: 'workspace', ...more } });
const allowAll = { rules: [{ match: {}, action: 'allow' }] };
const noFiles: PolicyRule = { name: 'no-forbidden', match: { args: { '/file': 'forbidden' } }, action: 'deny' };
const asking = { rules: [noFiles], asks: ['count'] };

async function start(faults: Faults, groups: ReturnType<typeof call>[][], policy: object = allowAll) {
  const worker = inMemoryWorker(engine, faults);
  const { runId } = await submitRun(worker.deps, { spec: specOf(groups, { policy }), by: 'eve', kind: 'person' });
  await deliverAll(worker.deps);
  const statuses = async () => (await listSteps(worker.deps, runId)).steps.map(({ status }) => status);
  return { ...worker, runId, statuses };
}

test('every call of a tool that asks is held whatever the policy allows, and a replay gives the same verdict', async () => {
  const { deps, runId, statuses, executions } = await start({ rules: asking }, [[call('a')]]);
  expect(await statuses()).toEqual(['parked']);
  expect(executions).toEqual([]);
  const [view] = await pendingApprovals(deps, runId);
  expect(view?.approval.request).toMatchObject({
    reason: 'every call of count asks a person',
    rule: { policy: 'toolset:test', name: 'asks-count', index: 1 },
  });
  await decideOn(deps, view, { by: 'ann' });
  await deliverAll(deps);
  expect(await statuses()).toEqual(['succeeded']);
  await soundLog(deps, runId);
  await assertSoundVerdicts(deps);
});

test('a rule of the run that names the tool lets its calls pass at once', async () => {
  const policy = { rules: [{ match: { tool: 'count', args: { '/file': 'a' } }, action: 'allow' }] };
  const { deps, statuses } = await start({ rules: asking }, [[call('a', { file: 'a' })], [call('b')]], policy);
  expect(await statuses()).toEqual(['succeeded', 'parked']);
  await assertSoundVerdicts(deps);
});

test('a remembered rule answers exactly the same call', async () => {
  const { deps, runId, statuses } = await start({ rules: asking }, [
    [call('a', { file: 'x' })],
    [call('b', { file: 'x' })],
    [call('c', { file: 'x y' })],
  ]);
  const [view] = await pendingApprovals(deps, runId);
  await decideOn(deps, view, { by: 'ann', remember: { scope: 'run' } });
  await deliverAll(deps);
  expect(await statuses()).toEqual(['succeeded', 'succeeded', 'parked']);
  await soundLog(deps, runId);
  await assertSoundVerdicts(deps);
});

test('a denial of the toolset is no question to anybody: the call is rejected with its rule, and nothing ran', async () => {
  const policy = { rules: [{ match: { tool: 'count' }, action: 'allow' }] };
  const { deps, runId, statuses, executions } = await start(
    { rules: asking },
    [[call('a', { file: 'forbidden' })]],
    policy,
  );
  expect(await statuses()).toEqual(['rejected']);
  expect(executions).toEqual([]);
  const rejected = (await readLog(deps.redis, runId)).find(({ type }) => type === 'step.rejected');
  expect(rejected?.data).toMatchObject({
    error: { code: 'EPERMISSION', message: expect.stringContaining('the rule no-forbidden of the toolset test') },
  });
  await assertSoundVerdicts(deps);
});

test('rules that are new when the call is about to run bind it', async () => {
  const faults: Faults = { rules: { rules: [], asks: ['count'] } };
  const { deps, runId, statuses, executions } = await start(faults, [[call('a', { file: 'forbidden' })]]);
  faults.rules = asking;
  // The approval was decided on, and a rule that came later denies the call.
  const [view] = await pendingApprovals(deps, runId);
  await decideOn(deps, view, { by: 'ann' });
  await deliverAll(deps);
  expect(await statuses()).toEqual(['failed']);
  expect(executions).toEqual([]);
  await soundLog(deps, runId);
});

test('an edit cannot bring a call past a rule of the toolset', async () => {
  const { deps, runId } = await start({ rules: asking }, [[call('a')]]);
  const [view] = await pendingApprovals(deps, runId);
  const edit = { by: 'ann', decision: 'edit' as const, args: { effect: 'workspace', file: 'forbidden' } };
  await expect(decideOn(deps, view, edit)).rejects.toMatchObject({ code: 'invalid_decision' });
});

test('an explanation of an imagined call has the rules of its toolset', async () => {
  const { deps } = inMemoryWorker(engine, { rules: asking });
  const spec = specOf([[call('a')]], { policy: allowAll });
  const explained = explainCall(
    deps,
    {
      toolset: 'holdpoint',
      tool: 'count',
      args: { effect: 'workspace' },
      labels: {},
      network: { allow: [] },
      settings: {},
      modes: { read_only: false, dry_run: false, deterministic: false },
    },
    { policy: spec.policy, operator: 'current' },
  );
  expect(explained).toMatchObject({ ok: true, explanation: { verdict: { action: 'hold' } } });
});
