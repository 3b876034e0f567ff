import { expect, test } from 'vitest';
import { submitRun } from '../commands/submit-run.ts';
import { readLog } from '../log/index.ts';
import { listSteps } from '../queries/list-steps.ts';
import { decideOn, pendingApprovals } from '../testing/decide.ts';
import { Died, deliverAll, dyingAt, inMemoryWorker, specOf, sweepOnce } from '../testing/index.ts';
import { killPoints } from '../testing/kill-points.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { listRules, revokeRule, rulesAbout } from './remembered-rules.ts';

const engine = useTestEngine({ fresh: true });
const tenant = 'default';
const hold = { rules: [{ match: {}, action: 'hold' }] };
let names = 0;
const call = (effect = 'workspace') => ({ name: `call${++names}`, args: { effect } });
type Worker = ReturnType<typeof inMemoryWorker>;
type Calls = ReturnType<typeof call>[][];

const submit = async (deps: Worker['deps'], groups: Calls = [[call()]], policy: object = hold) => {
  const spec = { ...specOf(groups, { policy, onError: 'continue' }) };
  const { runId } = await submitRun(deps, { spec, by: 'eve', kind: 'person' });
  await deliverAll(deps);
  return runId;
};
const statusesOf = async (runId: string) => (await listSteps(engine.deps, runId)).steps.map(({ status }) => status);
const viewOf = async (runId: string) => {
  const view = (await pendingApprovals(engine.deps, runId)).at(-1);
  if (view?.subject !== 'step') throw new Error('no call is held');
  return view;
};
const remember = async (
  deps: Worker['deps'],
  runId: string,
  {
    scope = 'policy' as 'run' | 'policy',
    ...more
  }: Partial<Parameters<typeof decideOn>[2]> & { scope?: 'run' | 'policy' },
) => {
  await decideOn(deps, await viewOf(runId), { by: 'ann', remember: { scope }, ...more });
  await deliverAll(deps);
};
const rulesOf = async () => (await listRules(engine.deps, {}, { limit: 10 })).items;

test('the repeat of a rejected call is rejected with who and when, and the planner reads not to try it again', async () => {
  const { deps, executions } = inMemoryWorker(engine, {});
  const runId = await submit(deps, [[call()], [call(), call()], [call('read')]]);
  await remember(deps, runId, { decision: 'reject', scope: 'run', message: 'never on a Friday' });
  expect(await statusesOf(runId)).toEqual(['rejected', 'rejected', 'rejected', 'parked']);
  expect(executions).toEqual([]);
  const { approvals } = await listSteps(deps, runId);
  const [made] = await rulesOf();
  expect(made?.rule.made).toMatchObject({ decision: 'reject', by: 'ann', message: 'never on a Friday' });
  expect(approvals[1]).toMatchObject({
    status: 'rejected',
    decision: { by: 'ann', decision: 'reject', rule_id: made?.rule.id, message: 'never on a Friday' },
  });
  const log = await soundLog(deps, runId);
  const errors = log.flatMap((event) => (event.type === 'step.rejected' ? [event.data.error] : []));
  expect(errors[0]).toMatchObject({ code: 'EREJECTED', next: expect.stringContaining('Do not try this call again') });
  expect(errors[1]).toMatchObject({
    code: 'EREJECTED',
    message: `Not run: ann rejected this very call at ${made?.rule.made.made_at}, and that is remembered until ${made?.rule.made.expires_at} (${made?.rule.id}). They say: never on a Friday`,
    next: expect.stringContaining('Do not try this call again'),
  });
  expect(await statusesOf(await submit(deps))).toEqual(['parked']);
});

test('calls that wait already are rejected at once, and a rule for the tenant rejects in other runs until it is revoked', async () => {
  const { deps } = inMemoryWorker(engine, {});
  const reads = [call('read'), call('read')];
  const runId = await submit(deps, [reads]);
  await decideOn(deps, await viewOf(runId), { by: 'ann', decision: 'reject', remember: { scope: 'policy' } });
  expect(await pendingApprovals(deps, runId)).toEqual([]);
  const other = await submit(deps, [[call('read')]]);
  expect(await statusesOf(other)).toEqual(['rejected']);
  const log = await soundLog(deps, other);
  expect(log.map(({ type }) => type)).not.toContain('run.waiting');
  const [made] = await rulesOf();
  await revokeRule(deps, made?.rule.id ?? '', { tenant, by: 'bob' });
  expect(await statusesOf(await submit(deps, [[call('read')]]))).toEqual(['parked']);
});

test('a rejection wins over an approval of the same call, whichever came first, and both are shown', async () => {
  for (const order of [
    ['approve', 'reject'],
    ['reject', 'approve'],
  ] as const) {
    await engine.deps.redis.flushall();
    const { deps, executions } = inMemoryWorker(engine, {});
    // Both wait before there is a rule.
    const runs = [await submit(deps, [[call()], [call()]]), await submit(deps, [[call()], [call()]])];
    for (const [at, decision] of order.entries()) {
      const view = await viewOf(runs[at] ?? '');
      await decideOn(deps, view, {
        by: decision === 'reject' ? 'ann' : 'bob',
        decision,
        remember: { scope: 'policy' },
      });
      const about = await rulesAbout(deps, view);
      expect(about.map(({ rule }) => rule.made.decision ?? 'approve').sort()).toEqual(
        [...order].slice(0, at + 1).sort(),
      );
    }
    await deliverAll(deps);
    const second = (await Promise.all(runs.map(statusesOf))).map((statuses) => statuses[1]);
    expect(second, order.join()).toEqual(['rejected', 'rejected']);
    expect(executions).toHaveLength(1);
    expect(await statusesOf(await submit(deps))).toEqual(['rejected']);
  }
});

test('a rejection decides where its maker may decide, also under a quorum, and answers no question of another kind', async () => {
  const { deps } = inMemoryWorker(engine, {});
  await remember(deps, await submit(deps), { decision: 'reject' });
  const under = async (rule: object) =>
    statusesOf(await submit(deps, [[call()]], { rules: [{ match: {}, action: 'hold', ...rule }] }));
  expect(await under({ deciders: { quorum: 2 } })).toEqual(['rejected']);
  expect(await under({ deciders: { names: ['bob'] } })).toEqual(['parked']);
  expect(await under({ deciders: { kinds: ['service'] } })).toEqual(['parked']);
  expect(await under({ action: 'allow' })).toEqual(['succeeded']);
});

test('an external call needs no consent to be rejected from now on', async () => {
  const { deps } = inMemoryWorker(engine, {});
  await remember(deps, await submit(deps, [[call('external')]]), { decision: 'reject' });
  expect(await statusesOf(await submit(deps, [[call('external')]]))).toEqual(['rejected']);
});

test('a rejected call whose attempt had begun under a looser policy runs nothing', async () => {
  const { deps, executions } = inMemoryWorker(engine, {});
  await remember(deps, await submit(deps), { decision: 'reject' });
  const asks: (string | undefined)[] = ['a file would be overwritten'];
  const worker = inMemoryWorker(engine, { asks: () => asks.shift() });
  // The tool's question parks the call without a rule of the policy: no remembered decision is about that.
  const runId = await submit(worker.deps, [[call()]], { rules: [{ match: {}, action: 'allow' }] });
  expect(await statusesOf(runId)).toEqual(['parked']);
  expect([...executions, ...worker.executions]).toEqual([]);
});

test.each(['before', 'after'] as const)(
  'a process that dies %s any one command to Redis while it remembers a rejection: asked again, there is one decision and one rule',
  async (when) => {
    const { from, every } = killPoints();
    let commands = from;
    for (let faulted = true; faulted; commands += every) {
      await engine.deps.redis.flushall();
      const { deps, executions } = inMemoryWorker(engine, {});
      const runId = await submit(deps, [[call('read'), call('read')]]);
      const view = await viewOf(runId);
      const request = { by: 'ann', decision: 'reject' as const, remember: { scope: 'policy' as const } };
      const dying = dyingAt(deps, commands, when);
      await decideOn(dying.deps, view, request).catch((error: unknown) => {
        if (!(error instanceof Died)) throw error;
      });
      faulted = dying.died();
      expect((await decideOn(deps, view, request)).approval.status).toBe('rejected');
      await sweepOnce({ ...deps, now: () => Date.now() + 10_000 });
      await deliverAll(deps);
      const log = await soundLog(deps, runId);
      expect(log.filter(({ type }) => type === 'rule.remembered')).toHaveLength(1);
      expect(await rulesOf()).toHaveLength(1);
      expect(await statusesOf(await submit(deps, [[call('read')]])), `death at command ${commands}`).toEqual([
        'rejected',
      ]);
      expect(executions).toEqual([]);
    }
    expect(commands).toBeGreaterThan(8);
  },
);

test('two processes that remember the opposite at once: both rules stand, one answer at least shows both, and later calls are rejected', async () => {
  for (let round = 0; round < 8; round++) {
    await engine.deps.redis.flushall();
    const { deps } = inMemoryWorker(engine, {});
    const views = [await viewOf(await submit(deps)), await viewOf(await submit(deps))];
    const shown = await Promise.all(
      (['approve', 'reject'] as const).map(async (decision, at) => {
        const view = views[at];
        if (view === undefined) throw new Error('nothing is held');
        await decideOn({ ...deps }, view, { by: `by${at}`, decision, remember: { scope: 'policy' } });
        return (await rulesAbout(deps, view)).length;
      }),
    );
    expect(Math.max(...shown)).toBe(2);
    expect(await rulesOf()).toHaveLength(2);
    await deliverAll(deps);
    expect(await statusesOf(await submit(deps))).toEqual(['rejected']);
  }
});

test('opposite decisions on one approval at once: one counts, with its rule alone', async () => {
  const { deps } = inMemoryWorker(engine, {});
  const runId = await submit(deps);
  const view = await viewOf(runId);
  await Promise.allSettled(
    Array.from({ length: 10 }, (_, at) =>
      decideOn(deps, view, {
        ...{ by: `ann${at}`, decision: at % 2 === 0 ? 'approve' : 'reject', remember: { scope: 'policy' } },
      }),
    ),
  );
  const log = await readLog(deps.redis, runId);
  const made = log.flatMap((event) => (event.type === 'rule.remembered' ? [event.data.rule_id] : []));
  expect(made).toHaveLength(1);
  expect((await rulesOf()).map(({ rule }) => rule.id)).toEqual(made);
});
