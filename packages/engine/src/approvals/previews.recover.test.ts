import { expect, test } from 'vitest';
import { submitRun } from '../commands/index.ts';
import { readApproval } from '../log/index.ts';
import { listSteps } from '../queries/index.ts';
import { decideOn, pendingApprovals } from '../testing/decide.ts';
import { dyingAt } from '../testing/dying-process.ts';
import type { Faults } from '../testing/faults.ts';
import { deliverAll, inMemoryWorker, specOf, sweepOnce } from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { delegateApproval } from './delegate-approval.ts';
import { requestResult } from './request-preview.ts';

const engine = useTestEngine();

/** Between the commands at which a process dies: every one of them in `npm run test:crash`. */
const stride = process.env.HOLDPOINT_CRASH === 'full' ? 1 : 5;
const policy = { rules: [{ match: { effect: 'workspace' }, action: 'hold' }] };
const write = { args: { effect: 'workspace' } };
const ann = { by: 'ann', kind: 'person' as const };

async function heldRun(steps: object[] = [write], more: object = {}, faults: Faults = {}) {
  const worker = inMemoryWorker(engine, faults);
  await worker.deps.redis.flushdb();
  const { runId } = await submitRun(worker.deps, { spec: specOf([steps as never], { policy, ...more }), by: 'test' });
  await deliverAll(worker.deps);
  const [view] = await pendingApprovals(worker.deps, runId);
  if (view === undefined) throw new Error('nothing is held');
  return { ...worker, runId, view };
}

test.each([
  ['before', 'approve'],
  ['after', 'approve'],
  ['before', 'reject'],
  ['after', 'reject'],
] as const)(
  'a process that dies %s any one command to Redis while a result is shown loses nothing; people %s it once',
  async (when, decision) => {
    let faulted = true;
    let commands = 1;
    for (; faulted; commands += stride) {
      const { deps, treeOf, executions, previews, runId, view } = await heldRun();
      expect(executions).toEqual([]);
      const dying = dyingAt(deps, commands, when);
      const alive = () => (dying.died() ? deps : dying.deps);
      await requestResult(dying.deps, view.approval.id, ann).catch((error: unknown) => {
        if (!dying.died()) throw error;
      });
      const deliver = () => deliverAll(deps, alive);
      await deliver();
      await sweepOnce(deps);
      await deliver();
      faulted = dying.died();
      const before = await readApproval(deps.redis, runId, view.approval.id);
      if (before?.status === 'pending') {
        // The request died before its append: its caller sends it again.
        expect([commands, before.previewing, before.preview_failed]).toEqual([commands, undefined, undefined]);
        await requestResult(deps, view.approval.id, ann);
        await deliver();
      }
      const [shown, ...others] = await pendingApprovals(deps, runId);
      expect([commands, others.length, shown?.approval.request.uses]).toEqual([
        commands,
        0,
        expect.stringMatching(/^result /),
      ]);
      expect(await readApproval(deps.redis, runId, view.approval.id)).toMatchObject({
        status: 'canceled',
        superseded: shown?.approval.id,
      });
      expect(treeOf(runId)).toEqual([]);
      const ran = executions.length;
      await decideOn(deps, shown, { decision });
      await deliver();
      await sweepOnce(deps);
      await deliver();
      const { run, steps } = await listSteps(deps, runId);
      const isApplied = decision === 'approve';
      expect([commands, run.status]).toEqual([commands, isApplied ? 'succeeded' : 'failed']);
      expect([commands, treeOf(runId)]).toEqual([commands, isApplied ? steps.map(({ id }) => id) : []]);
      expect(executions).toHaveLength(ran);
      if (!faulted) expect([...previews]).toEqual([]);
      await soundLog(deps, runId);
    }
    expect(commands).toBeGreaterThan(20);
  },
);

test('the result has a digest of its own: a decision on the old approval names the new one', async () => {
  const { deps, view, runId, executions } = await heldRun();
  await requestResult(deps, view.approval.id, ann);
  await deliverAll(deps);
  const [shown] = await pendingApprovals(deps, runId);
  expect(shown?.digest).not.toBe(view.digest);
  expect(shown?.approval.request).toMatchObject({
    expires_at: view.approval.request.expires_at,
    allowed_decisions: view.approval.request.allowed_decisions,
  });
  await expect(decideOn(deps, view)).rejects.toMatchObject({
    code: 'action_changed',
    message: expect.stringContaining(shown?.approval.id ?? ''),
  });
  const again = await requestResult(deps, view.approval.id, ann);
  expect(again.approval.id).toBe(shown?.approval.id);
  await deliverAll(deps);
  expect(executions).toHaveLength(1);
  await decideOn(deps, shown);
  await expect(requestResult(deps, view.approval.id, ann)).rejects.toMatchObject({ code: 'already_decided' });
});

test('a decision that comes first wins, and the call runs once', async () => {
  const { deps, view, runId, executions, treeOf } = await heldRun();
  await requestResult(deps, view.approval.id, ann);
  await decideOn(deps, view);
  await deliverAll(deps);
  const { run, steps } = await listSteps(deps, runId);
  expect(run.status).toBe('succeeded');
  expect(treeOf(runId)).toEqual(steps.map(({ id }) => id));
  expect(executions).toHaveLength(1);
  await soundLog(deps, runId);
});

test('a decision while the call runs for show ends it at once, and the call runs for good once', async () => {
  const ended = Promise.withResolvers<unknown>();
  const begun = Promise.withResolvers<void>();
  const { deps, view, runId, executions, treeOf } = await heldRun(
    [write],
    {},
    {
      async execute({ signal, runId: at }) {
        if (at === runId) return;
        begun.resolve();
        const aborted = Promise.withResolvers<never>();
        signal.addEventListener('abort', () => aborted.reject(signal.reason), { once: true });
        await aborted.promise.catch((reason: unknown) => {
          ended.resolve(reason);
          throw reason;
        });
      },
    },
  );
  await requestResult(deps, view.approval.id, ann);
  const delivered = deliverAll(deps);
  await begun.promise;
  await decideOn(deps, view);
  expect(await ended.promise).toBe('canceled');
  await delivered;
  const { run, steps } = await listSteps(deps, runId);
  expect([run.status, treeOf(runId), executions.length]).toEqual(['succeeded', steps.map(({ id }) => id), 2]);
  await soundLog(deps, runId);
});

test('where there is no result the approval stays open and says why; it may be asked again', async () => {
  const { deps, view, runId } = await heldRun([{ args: { effect: 'workspace', background: 'hello' } }]);
  await requestResult(deps, view.approval.id, ann);
  await deliverAll(deps);
  const [same] = await pendingApprovals(deps, runId);
  expect(same).toMatchObject({
    digest: view.digest,
    approval: { id: view.approval.id, preview_failed: { reason: { code: 'ENORESULT' } } },
  });
  expect(same?.approval.previewing).toBeUndefined();
  await requestResult(deps, view.approval.id, ann);
  await deliverAll(deps);
  await decideOn(deps, same, { decision: 'reject' });
  await deliverAll(deps);
  await soundLog(deps, runId);
});

test('delegations stay with the call, also one made while the call runs for show', async () => {
  const rules = [{ match: { effect: 'workspace' }, action: 'hold', deciders: { names: ['ann'] } }];
  const faults: Faults = {};
  const { deps, view, runId, executions } = await heldRun([write], { policy: { rules } }, faults);
  const { id } = view.approval;
  const letDecide = (name: string) =>
    delegateApproval(deps, id, { from: { name: 'ann', kind: 'person' }, to: { name, kind: 'person' } });
  await letDecide('eve');
  await requestResult(deps, id, { ...ann, by: 'eve' });
  faults.execute = async () => {
    await letDecide('flo');
  };
  await deliverAll(deps);
  const [shown] = await pendingApprovals(deps, runId);
  expect(shown?.approval.delegations?.map(({ to }) => to)).toEqual(['eve', 'flo']);
  expect(executions).toHaveLength(1);
  await decideOn(deps, shown, { by: 'flo' });
  await deliverAll(deps);
  expect((await listSteps(deps, runId)).run.status).toBe('succeeded');
  await soundLog(deps, runId);
});

test.each([
  ['an agent', write, { by: 'bot', kind: 'agent' as const }, 'not_a_decider'],
  ['a call with an external effect', { args: { effect: 'external' } }, ann, 'no_preview'],
  ['a question', { args: { effect: 'read', gate: 'input' } }, ann, 'no_preview'],
])('is refused: %s', async (_, step, caller, code) => {
  const { deps, view, executions } = await heldRun([step]);
  await expect(requestResult(deps, view.approval.id, caller)).rejects.toMatchObject({ code });
  await deliverAll(deps);
  expect(executions).toEqual([]);
});

test('who may not decide may not have the call run', async () => {
  const rules = [{ match: { effect: 'workspace' }, action: 'hold', deciders: { names: ['bob'] } }];
  const { deps, view, executions } = await heldRun([write], { policy: { rules } });
  await expect(requestResult(deps, view.approval.id, ann)).rejects.toMatchObject({ code: 'not_a_decider' });
  await deliverAll(deps);
  expect(executions).toEqual([]);
  await requestResult(deps, view.approval.id, { ...ann, by: 'bob' });
  await deliverAll(deps);
  expect(executions).toHaveLength(1);
});
