import type { CallerKind, Deciders } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { forkRun } from '../commands/fork-run.ts';
import { submitRun } from '../commands/submit-run.ts';
import { readLog } from '../log/index.ts';
import { listSteps } from '../queries/list-steps.ts';
import { decideOn, pendingApprovals } from '../testing/decide.ts';
import { Died, deliverAll, dyingAt, inMemoryWorker, specOf, sweepOnce } from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { delegateApproval } from './delegate-approval.ts';
import { giveNotices } from './give-notices.ts';
import { viewApproval } from './view-approval.ts';

const engine = useTestEngine();
const write = { name: 'a', args: { effect: 'workspace' } };

async function held(rule: object, { by = 'eve', step = write }: { by?: string; step?: typeof write } = {}) {
  const worker = inMemoryWorker(engine);
  const policy = { rules: [{ name: 'writes', match: {}, action: 'hold', ...rule }] };
  const { runId } = await submitRun(worker.deps, { spec: specOf([[step]], { policy }), by, kind: 'person' });
  await deliverAll(worker.deps);
  const [view] = await pendingApprovals(worker.deps, runId);
  if (!view) throw new Error('nothing is held');
  const decide = (name: string, more: { kind?: CallerKind; decision?: 'approve' | 'reject' | 'edit' } = {}) =>
    decideOn(worker.deps, view, { by: name, ...more });
  return { ...worker, runId, view, decide };
}
const panel = (deciders: Deciders) => held({ deciders });
const typesOf = async (runId: string) => (await readLog(engine.deps.redis, runId)).map(({ type }) => type);

test('only callers that the rule names decide, and the approval says who', async () => {
  const { decide, runId, view, deps } = await panel({ names: ['ops-*'], kinds: ['person'] });
  expect(view.approval.request).toMatchObject({
    deciders: [{ names: ['ops-*'], kinds: ['person'] }],
    rule: { policy: 'run', name: 'writes', index: 0 },
  });
  for (const [name, kind] of [
    ['ann', 'person'],
    ['ops-bot', 'service'],
    ['ops-agent', 'agent'],
  ] as const) {
    for (const decision of ['approve', 'reject'] as const) {
      await expect(decide(name, { kind, decision })).rejects.toMatchObject({ code: 'not_a_decider' });
    }
  }
  expect(await typesOf(runId)).not.toContain('approval.decided');
  await decide('ops-ann');
  await deliverAll(deps);
  expect((await listSteps(deps, runId)).steps[0]?.status).toBe('succeeded');
});

test('who submitted or forked a run may not decide on it where duties are separated', async () => {
  const { decide, deps, runId } = await panel({ not_submitter: true });
  await expect(decide('eve')).rejects.toMatchObject({ code: 'not_a_decider' });
  const fork = await forkRun(deps, runId, { fromStep: 0, changes: {}, by: 'mallory' });
  await deliverAll(deps);
  const [view] = await pendingApprovals(deps, fork.runId);
  for (const by of ['eve', 'mallory']) {
    await expect(decideOn(deps, view, { by })).rejects.toMatchObject({ code: 'not_a_decider' });
  }
  await decideOn(deps, view, { by: 'ann' });
  await decide('ann');
});

test('a sub-agent is submitted by who submitted the run at its root', async () => {
  const worker = inMemoryWorker(engine);
  const agent = { groups: [{ steps: [{ tool: 'count', args: { effect: 'workspace' } }] }] };
  const rules = [{ match: { effect: 'workspace' }, action: 'hold', deciders: { not_submitter: true } }];
  const spec = specOf([[{ args: { effect: 'read', agent } }]], { policy: { rules } });
  await submitRun(worker.deps, { spec, by: 'olivia', kind: 'person' });
  await deliverAll(worker.deps);
  const view = (await pendingApprovals(worker.deps)).find(({ run }) => run.parent !== undefined);
  await expect(decideOn(worker.deps, view, { by: 'olivia' })).rejects.toMatchObject({ code: 'not_a_decider' });
  await decideOn(worker.deps, view, { by: 'ann' });
});

test('a quorum needs different callers, and its last vote decides', async () => {
  const { decide, runId, deps, view } = await panel({ quorum: 3 });
  expect(view.approval.request.allowed_decisions).toEqual(['approve', 'reject']);
  await decide('ann');
  await decide('ann');
  await decide('bob');
  expect((await viewApproval(deps, view.approval.id)).approval).toMatchObject({
    status: 'pending',
    votes: [{ by: 'ann' }, { by: 'bob' }],
  });
  await deliverAll(deps);
  expect((await listSteps(deps, runId)).steps[0]?.status).toBe('parked');
  await decide('cy');
  expect((await viewApproval(deps, view.approval.id)).approval).toMatchObject({
    status: 'approved',
    decision: { by: 'cy', votes: [{ by: 'ann' }, { by: 'bob' }, { by: 'cy' }] },
  });
  await deliverAll(deps);
  await soundLog(deps, runId);
  expect((await typesOf(runId)).filter((type) => type === 'approval.voted')).toHaveLength(3);
});

test('racing votes are counted once each, and one decision stands', async () => {
  const { decide, runId, deps } = await panel({ quorum: 3 });
  const names = ['ann', 'bob', 'cy', 'dan', 'eli'];
  await Promise.allSettled([...names, ...names].map((name) => decide(name)));
  const log = await readLog(engine.deps.redis, runId);
  const decided = log.filter(({ type }) => type === 'approval.decided');
  expect(decided).toHaveLength(1);
  expect(decided[0]?.data).toMatchObject({ votes: [{}, {}, {}] });
  expect(log.filter(({ type }) => type === 'approval.voted')).toHaveLength(3);
  await deliverAll(deps);
  await soundLog(deps, runId);
});

test('one rejection decides, whatever the votes before it', async () => {
  const { decide, runId, deps } = await panel({ quorum: 2 });
  await decide('ann');
  await decide('bob', { decision: 'reject' });
  await expect(decide('cy')).rejects.toMatchObject({ code: 'already_decided' });
  await deliverAll(deps);
  expect((await listSteps(deps, runId)).steps[0]?.status).toBe('rejected');
});

test('each rule that holds has to be satisfied', async () => {
  const worker = inMemoryWorker(engine);
  const operatorPolicy = () => ({
    rules: [{ match: {}, action: 'hold' as const, deciders: { names: ['security'] } }],
    publish: 'allow' as const,
  });
  const deps = { ...worker.deps, operatorPolicy };
  const policy = { rules: [{ match: {}, action: 'hold', deciders: { names: ['team-*'] } }] };
  const { runId } = await submitRun(deps, { spec: specOf([[write]], { policy }), by: 'eve', kind: 'person' });
  await deliverAll(deps);
  const [view] = await pendingApprovals(deps, runId);
  await decideOn(deps, view, { by: 'team-ann' });
  await decideOn(deps, view, { by: 'team-bob' });
  expect((await pendingApprovals(deps, runId)).length).toBe(1);
  await expect(
    decideOn(deps, view, { by: 'security', decision: 'edit', args: { effect: 'read' } }),
  ).rejects.toMatchObject({ code: 'not_a_decider' });
  await decideOn(deps, view, { by: 'security' });
  await deliverAll(deps);
  expect((await listSteps(deps, runId)).steps[0]?.status).toBe('succeeded');
});

const person = (name: string, kind: CallerKind = 'person') => ({ name, kind });

test('a caller who may decide lets another one decide, and both count once', async () => {
  const { decide, deps, view } = await panel({ names: ['ann', 'bob'], quorum: 2, not_submitter: true });
  const to = (name: string, kind?: CallerKind, from = 'ann') =>
    delegateApproval(deps, view.approval.id, { from: person(from), to: person(name, kind) });
  await expect(to('robot', 'agent')).rejects.toMatchObject({ code: 'invalid_delegation' });
  await expect(to('eve')).rejects.toMatchObject({ code: 'invalid_delegation' });
  await expect(to('bob')).rejects.toMatchObject({ code: 'invalid_delegation' });
  await expect(to('cy', 'person', 'mallory')).rejects.toMatchObject({ code: 'invalid_delegation' });
  await to('cy');
  await to('cy');
  await expect(to('dan', 'person', 'cy')).rejects.toMatchObject({ code: 'invalid_delegation' });
  await decide('cy');
  await decide('ann');
  expect((await viewApproval(deps, view.approval.id)).approval.status).toBe('pending');
  await decide('bob');
  expect((await viewApproval(deps, view.approval.id)).approval.status).toBe('approved');
});

test('reminders and the escalation come once each, from several workers and after a late start', async () => {
  const { decide, runId, deps, view } = await held({
    deciders: { names: ['ann'] },
    remind_after_s: 60,
    escalate: { after_s: 100, to: ['boss'] },
  });
  await expect(decide('boss')).rejects.toMatchObject({ code: 'not_a_decider' });
  const asked = Date.parse(view.approval.request.requested_at);
  const sweepAt = async (seconds: number) => {
    const later = { ...deps, now: () => asked + seconds * 1000 };
    const { signal } = new AbortController();
    await Promise.all([1, 2, 3, 4].map(() => giveNotices(later, signal)));
  };
  const notices = async () =>
    (await readLog(engine.deps.redis, runId)).flatMap(({ type, data }): (number | string)[] =>
      type === 'approval.reminded' ? [data.times] : type === 'approval.escalated' ? ['escalated'] : [],
    );
  await sweepAt(59);
  expect(await notices()).toEqual([]);
  await sweepAt(61);
  await sweepAt(62);
  expect(await notices()).toEqual([1]);
  await sweepAt(105);
  expect(await notices()).toEqual([1, 'escalated']);
  await sweepAt(130);
  await sweepOnce({ ...deps, now: () => asked + 131_000 });
  expect(await notices()).toEqual([1, 'escalated', 2]);
  // No worker ran for ten minutes: one reminder, not ten.
  await sweepAt(730);
  expect(await notices()).toEqual([1, 'escalated', 2, 12]);
  await decide('boss');
  await sweepAt(1000);
  expect(await notices()).toHaveLength(4);
  expect(await engine.deps.redis.zscore('hp:index:notices', view.approval.id)).toBeNull();
});

test.each(['before', 'after'] as const)(
  'a worker that dies %s any one command to Redis while it gives notice: each notice comes once',
  async (when) => {
    let commands = 1;
    for (let faulted = true; faulted; commands++) {
      const { runId, deps, view } = await held({ remind_after_s: 60, escalate: { after_s: 60, to: ['boss'] } });
      const at = (seconds: number) => () => Date.parse(view.approval.request.requested_at) + seconds * 1000;
      const { signal } = new AbortController();
      const dying = dyingAt({ ...deps, now: at(61) }, commands, when);
      await giveNotices(dying.deps, signal).catch((error: unknown) => {
        if (!(error instanceof Died)) throw error;
      });
      faulted = dying.died();
      await giveNotices({ ...deps, now: at(62) }, signal);
      const types = (await typesOf(runId)).filter((type) => /reminded|escalated/.test(type));
      expect(types, `death at command ${commands}`).toEqual(['approval.escalated', 'approval.reminded']);
      await giveNotices({ ...deps, now: at(121) }, signal);
      expect((await typesOf(runId)).filter((type) => type === 'approval.reminded')).toHaveLength(2);
      await engine.deps.redis.del('hp:index:notices');
    }
    expect(commands).toBeGreaterThan(5);
  },
);

test('the policy decides at the deadline where it says so, and a later decision of a person loses', async () => {
  const { decide, runId, deps, view } = await held({ on_expiry: 'allow', expires_s: 30 });
  const late = { ...deps, now: () => Date.now() + 31_000 };
  await expect(decideOn(late, view, { by: 'ann', decision: 'reject' })).rejects.toMatchObject({
    code: 'already_decided',
  });
  await deliverAll(late);
  const { steps, approvals } = await listSteps(deps, runId);
  expect(steps[0]?.status).toBe('succeeded');
  expect(approvals[0]).toMatchObject({ status: 'approved', decision: { by: 'the policy', expired: true } });
  await expect(decide('ann', { decision: 'reject' })).rejects.toMatchObject({ code: 'already_decided' });
  await soundLog(deps, runId);
});

test('a policy that became stricter lets nothing run at the deadline', async () => {
  for (const action of ['deny', 'hold'] as const) {
    const { runId, deps } = await held({ on_expiry: 'allow', expires_s: 30 });
    const operatorPolicy = () => ({ rules: [{ match: {}, action }], publish: 'allow' as const });
    const late = { ...deps, operatorPolicy, now: () => Date.now() + 31_000 };
    await sweepOnce(late);
    await deliverAll(late);
    expect((await listSteps(deps, runId)).steps[0]?.status).toBe('expired');
  }
});

test('several deciders are never replaced by silence', async () => {
  const { runId, deps, view } = await held({ on_expiry: 'allow', expires_s: 30, deciders: { quorum: 2 } });
  expect(view.approval.request.on_expiry).toBeUndefined();
  const late = { ...deps, now: () => Date.now() + 31_000 };
  await sweepOnce(late);
  await deliverAll(late);
  expect((await listSteps(deps, runId)).steps[0]?.status).toBe('expired');
});

test('a decision after the deadline loses, although the clock of its process is behind', async () => {
  const { runId, deps, view, executions } = await held({ expires_s: 1 });
  const behind = { ...deps, now: () => Date.parse(view.approval.request.expires_at) - 500 };
  // The clock of Redis alone shows that the deadline has passed.
  let refused: unknown;
  while (refused === undefined) {
    const [seconds, micros] = await deps.redis.time();
    const isPast = Number(seconds) * 1000 + Number(micros) / 1000 > Date.parse(view.approval.request.expires_at);
    if (isPast) refused = await decideOn(behind, view).catch((error: unknown) => error);
  }
  expect(refused).toMatchObject({ code: 'already_decided' });
  await deliverAll(deps);
  expect(executions).toEqual([]);
  expect((await listSteps(deps, runId)).steps[0]?.status).toBe('expired');
});
