import type { CallerKind } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { submitRun } from '../commands/submit-run.ts';
import type { WorkerDeps } from '../deps.ts';
import { readLog } from '../log/index.ts';
import { listSteps } from '../queries/list-steps.ts';
import { decideOn, pendingApprovals } from '../testing/decide.ts';
import type { Faults } from '../testing/faults.ts';
import { inForce } from '../testing/in-force.ts';
import { Died, deliverAll, dyingAt, inMemoryWorker, specOf, sweepOnce } from '../testing/index.ts';
import { killPoints } from '../testing/kill-points.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { listRules, revokeRule } from './remembered-rules.ts';

const engine = useTestEngine({ fresh: true });
const tenant = 'default';
const hold = { rules: [{ match: {}, action: 'hold' }] };
const call = (name: string, effect = 'workspace', more = {}) => ({ name, args: { effect, ...more } });
type Groups = Parameters<typeof specOf>[0];

async function start(groups: Groups, { policy = hold as object, faults = {} as Faults, by = 'eve' } = {}) {
  const worker = inMemoryWorker(engine, faults);
  const submit = async (deps: WorkerDeps, steps: Groups = groups, rules: object = policy) => {
    const { runId } = await submitRun(deps, { spec: specOf(steps, { policy: rules }), by, kind: 'person' });
    await deliverAll(deps);
    return runId;
  };
  const runId = await submit(worker.deps);
  const remember = async (scope: 'run' | 'policy', more: object = {}) => {
    const [view] = await pendingApprovals(worker.deps, runId);
    await decideOn(worker.deps, view, { by: 'ann', remember: { scope, ...more } });
    await deliverAll(worker.deps);
  };
  return { ...worker, runId, submit, remember };
}
const statusesOf = async (runId: string) => (await listSteps(engine.deps, runId)).steps.map(({ status }) => status);
const rulesOf = async () => (await listRules(engine.deps, {}, { limit: 10 })).items;

test('the same call needs no second decision in its run, and the log names the rule and its maker', async () => {
  const { runId, submit, remember, deps } = await start([
    [call('a')],
    [call('b')],
    [call('c', 'workspace', { fail: false })],
  ]);
  await remember('run');
  expect(await statusesOf(runId)).toEqual(['succeeded', 'succeeded', 'parked']);
  const { approvals, steps } = await listSteps(deps, runId);
  const rule = (await rulesOf())[0]?.rule;
  expect(rule?.made).toMatchObject({ scope: 'run', tool: 'count', effect: 'workspace', by: 'ann' });
  expect(approvals[0]?.decision).toMatchObject({ by: 'ann', made_rule: rule?.id });
  expect(approvals[1]).toMatchObject({
    status: 'approved',
    request: { step_id: steps[1]?.id },
    decision: { by: 'ann', rule_id: rule?.id, decision: 'approve' },
  });
  expect(await deps.redis.zrange('hp:index:approvals', '0', '-1')).toEqual([approvals[2]?.id]);
  await soundLog(deps, runId);
  expect(await statusesOf(await submit(deps))).toEqual(['parked']);
});

test('a rule settles the same call where it waits already in its run, and no other call', async () => {
  const reads = [call('a', 'read'), call('b', 'read'), call('c', 'read', { looks: true })];
  const { runId, deps, submit, executions } = await start([reads]);
  const other = await submit(deps);
  expect(await statusesOf(runId)).toEqual(['parked', 'parked', 'parked']);
  const approvalsOf = async () => {
    const { approvals, steps } = await listSteps(deps, runId);
    return steps.map(({ id }) => approvals.find(({ request }) => request.step_id === id));
  };
  const [first] = await approvalsOf();
  const shown = (await pendingApprovals(deps, runId)).find(({ approval }) => approval.id === first?.id);
  await decideOn(deps, shown, { by: 'ann', remember: { scope: 'run' } });
  const [decided, answered, open] = await approvalsOf();
  const made = decided?.decision?.made_rule;
  expect(made).toBeDefined();
  expect(answered?.decision).toMatchObject({ by: 'ann', rule_id: made, decision: 'approve' });
  expect(open?.status).toBe('pending');
  await deliverAll(deps);
  expect(await statusesOf(runId)).toEqual(['succeeded', 'succeeded', 'parked']);
  expect(executions).toHaveLength(2);
  expect(await statusesOf(other)).toEqual(['parked', 'parked', 'parked']);
  await soundLog(deps, runId);
});

test('a rule for the tenant answers in other runs until it is revoked or expires', async () => {
  const { submit, remember, deps } = await start([[call('a')]]);
  await remember('policy', { expires_s: 60 });
  const other = await submit(deps);
  expect(await statusesOf(other)).toEqual(['succeeded']);
  await soundLog(deps, other);
  expect(await statusesOf(await submit({ ...deps, now: () => Date.now() + 61_000 }))).toEqual(['parked']);
  const [made] = await rulesOf();
  const id = made?.rule.id ?? '';
  await expect(revokeRule(deps, id, { tenant: 'other', by: 'bob' })).rejects.toMatchObject({ code: 'rule_not_found' });
  await revokeRule(deps, id, { tenant, by: 'bob' });
  await revokeRule(deps, id, { tenant, by: 'bob' });
  expect(await statusesOf(await submit(deps))).toEqual(['parked']);
  expect(await rulesOf()).toEqual([]);
  const log = await readLog(deps.redis, made?.runId ?? '');
  expect(log.filter(({ type }) => type === 'rule.revoked')).toHaveLength(1);
});

test('other arguments are another call', async () => {
  const { submit, remember, deps } = await start([[call('a')]]);
  await remember('policy');
  expect(await statusesOf(await submit(deps, [[call('a', 'workspace', { looks: true })]]))).toEqual(['parked']);
});

test('a rule never answers a denial, a question to a person, a quorum or a separation that its maker fails', async () => {
  const { submit, remember, deps } = await start([[call('a')]]);
  await remember('policy');
  const under = async (rule: object) =>
    statusesOf(await submit(deps, [[call('a')]], { rules: [{ match: {}, action: 'hold', ...rule }] }));
  expect(await under({ action: 'deny' })).toEqual(['rejected']);
  expect(await under({ deciders: { quorum: 2 } })).toEqual(['parked']);
  expect(await under({ deciders: { names: ['bob'] } })).toEqual(['parked']);
  expect(await under({ deciders: { kinds: ['service'] } })).toEqual(['parked']);
  expect(await under({ decisions: ['respond'] })).toEqual(['parked']);
  expect(await under({ deciders: { names: ['ann'], not_submitter: true } })).toEqual(['succeeded']);
  const spec = specOf([[call('a')]], {
    policy: { rules: [{ match: {}, action: 'hold', deciders: { not_submitter: true } }] },
  });
  const { runId: own } = await submitRun(deps, { spec, by: 'ann', kind: 'person' });
  await deliverAll(deps);
  expect(await statusesOf(own)).toEqual(['parked']);
  expect(await statusesOf(await submit(deps, [[call('a', 'workspace', { gate: 'input' })]]))).toEqual(['parked']);
});

test('the question of a tool about the workspace is asked although a rule answers the policy', async () => {
  const questions: (string | undefined)[] = [];
  const { submit, remember, deps, executions } = await start([[call('a')]], {
    faults: { asks: () => questions.shift() },
  });
  await remember('policy');
  expect(executions).toHaveLength(1);
  questions.push('a file would be overwritten');
  expect(await statusesOf(await submit(deps))).toEqual(['parked']);
  // The question comes up only when the attempt has begun.
  questions.push(undefined, 'a file would be overwritten');
  expect(await statusesOf(await submit(deps))).toEqual(['parked']);
  expect(executions).toHaveLength(1);
  expect(await statusesOf(await submit(deps))).toEqual(['succeeded']);
});

test('a rule answers a call that a stricter policy holds when its attempt has begun', async () => {
  const { remember, deps, executions } = await start([[call('a')]]);
  await remember('policy');
  const allow = { rules: [{ match: {}, action: 'allow' }] };
  const operator = inForce({ rules: [{ match: {}, action: 'hold' }] });
  const strict = { ...deps, operatorPolicy: () => operator };
  const { runId } = await submitRun(deps, {
    spec: specOf([[call('a')]], { policy: allow }),
    by: 'eve',
    kind: 'person',
  });
  // The first job plans the call and lets it through; the second is the call.
  await deliverAll(deps, (n) => (n === 1 ? deps : strict));
  expect(await statusesOf(runId)).toEqual(['succeeded']);
  expect(executions.map(({ attempt }) => attempt)).toEqual([1, 2]);
  const log = await soundLog(deps, runId);
  const rule = (await rulesOf())[0]?.rule.id;
  const at = log.findIndex(({ type }) => type === 'step.held');
  expect(log.slice(at, at + 4)).toMatchObject([
    { type: 'step.held', data: { attempt: 1 } },
    { type: 'approval.requested' },
    { type: 'approval.decided', data: { by: 'ann', rule_id: rule, decision: 'approve' } },
    { type: 'step.queued' },
  ]);
  expect(log.map(({ type }) => type)).not.toContain('run.waiting');
  expect(await deps.redis.zcard('hp:index:approvals')).toBe(0);
});

test('effects outside the workspace are remembered only when asked for', async () => {
  const { submit, remember, deps, runId } = await start([[call('a', 'external')]]);
  await expect(remember('policy')).rejects.toMatchObject({ code: 'invalid_decision' });
  expect(await statusesOf(runId)).toEqual(['parked']);
  await remember('policy', { external: true });
  expect(await statusesOf(await submit(deps))).toEqual(['succeeded']);
});

test('a decision that makes no valid rule changes nothing', async () => {
  const { deps, runId } = await start([[call('a')]], {
    policy: { rules: [{ match: {}, action: 'hold', deciders: { quorum: 2 } }] },
  });
  const [view] = await pendingApprovals(deps, runId);
  const before = await readLog(deps.redis, runId);
  for (const request of [
    { remember: { scope: 'run' as const } },
    { remember: { scope: 'run' as const, expires_s: 366 * 24 * 3600 } },
    { decision: 'reject' as const, remember: { scope: 'run' as const, expires_s: 0 } },
  ]) {
    await expect(decideOn(deps, view, request)).rejects.toMatchObject({ code: 'invalid_decision' });
  }
  expect(await readLog(deps.redis, runId)).toEqual(before);
  expect(await deps.redis.zcard('hp:index:rules:default')).toBe(0);
});

test.each(['before', 'after'] as const)(
  'a process that dies %s any one command to Redis while it decides: asked again, there is one decision and one rule',
  async (when) => {
    const { from, every } = killPoints();
    let commands = from;
    for (let faulted = true; faulted; commands += every) {
      await engine.deps.redis.flushall();
      const { deps, runId, submit } = await start([[call('a')]], {
        policy: { rules: [{ match: {}, action: 'hold', remind_after_s: 60 }] },
      });
      const [view] = await pendingApprovals(deps, runId);
      const request = { by: 'ann', remember: { scope: 'policy' as const } };
      const dying = dyingAt(deps, commands, when);
      await decideOn(dying.deps, view, request).catch((error: unknown) => {
        if (!(error instanceof Died)) throw error;
      });
      faulted = dying.died();
      expect((await decideOn(deps, view, request)).approval.status).toBe('approved');
      await sweepOnce({ ...deps, now: () => Date.now() + 10_000 });
      await deliverAll(deps);
      expect(await statusesOf(runId), `death at command ${commands}`).toEqual(['succeeded']);
      const log = await soundLog(deps, runId);
      expect(log.filter(({ type }) => type === 'approval.decided')).toHaveLength(1);
      expect(await rulesOf()).toHaveLength(1);
      expect(await statusesOf(await submit(deps))).toEqual(['succeeded']);
    }
    expect(commands).toBeGreaterThan(8);
  },
);

test('racing decisions make one rule at most, and the index keeps no other', async () => {
  const { deps, runId } = await start([[call('a')]]);
  const [view] = await pendingApprovals(deps, runId);
  const kinds: CallerKind[] = ['person', 'service'];
  await Promise.allSettled(
    Array.from({ length: 20 }, (_, at) =>
      decideOn(deps, view, {
        ...{ by: `ann${at}`, kind: kinds[at % 2] ?? 'person' },
        ...(at % 2 === 0 ? { remember: { scope: 'policy' as const } } : { decision: 'reject' as const }),
      }),
    ),
  );
  const log = await readLog(deps.redis, runId);
  const made = log.flatMap((event) => (event.type === 'rule.remembered' ? [event.data.rule_id] : []));
  const entries = await deps.redis.zrange('hp:index:rules:default', '0', '-1');
  expect(entries.map((entry) => entry.split(' ')[1])).toEqual(made);
  expect(log.filter(({ type }) => type === 'approval.decided')).toHaveLength(1);
  await sweepOnce(deps);
  expect((await rulesOf()).map(({ rule }) => rule.id)).toEqual(made);
});
