import { expect, test } from 'vitest';
import { requestCancelOfStep, submitRun } from '../commands/index.ts';
import { fromPayload, readWholeLog } from '../log/index.ts';
import { listSteps } from '../queries/index.ts';
import { decideOn, pendingApprovals } from '../testing/decide.ts';
import { dyingAt } from '../testing/dying-process.ts';
import { inForce } from '../testing/in-force.ts';
import { deliverAll, inMemoryWorker, specOf, sweepOnce } from '../testing/index.ts';
import { proveWith, testSite } from '../testing/prove-with.ts';
import { soundLog } from '../testing/sound-log.ts';
import { createTestPasskey } from '../testing/test-passkey.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { decideApproval } from './decide-approval.ts';

const engine = useTestEngine();

/** Between the commands at which a process dies: every one of them in `npm run test:crash`. */
const stride = process.env.HOLDPOINT_CRASH === 'full' ? 1 : 5;
const allowAll = { rules: [{ match: {}, action: 'allow' as const }] };

async function begin(args: object, policy: object = allowAll) {
  const worker = inMemoryWorker(engine);
  await worker.deps.redis.flushdb();
  const spec = specOf([[{ args: { questions: 1, ...args } }]], { policy });
  const { runId } = await submitRun(worker.deps, { spec, by: 'test' });
  const question = async () => {
    const [view] = await pendingApprovals(worker.deps, runId);
    return view;
  };
  const answer = async (message: string, more: object = {}) => {
    await decideOn(worker.deps, await question(), { decision: 'respond', message, ...more });
    await deliverAll(worker.deps);
  };
  const look = async () => {
    const { run, steps } = await listSteps(worker.deps, runId);
    return { run: run.status, step: steps[0] };
  };
  return { ...worker, runId, question, answer, look };
}

async function asked(args: object, policy?: object) {
  const run = await begin(args, policy);
  await deliverAll(run.deps);
  return run;
}

test.each([
  ['read', 'before'],
  ['read', 'after'],
  ['workspace', 'before'],
  ['workspace', 'after'],
  ['external', 'before'],
  ['external', 'after'],
] as const)(
  'a process that dies in a call that asks (%s) %s any one command to Redis loses nothing',
  async (effect, when) => {
    let faulted = true;
    let commands = 1;
    for (; faulted; commands += stride) {
      const { deps, runId, executions, treeOf, question, look } = await begin({ effect });
      const dying = dyingAt(deps, commands, when);
      const alive = () => (dying.died() ? deps : dying.deps);
      const settle = async () => {
        await deliverAll(deps, alive);
        await sweepOnce(deps);
        await deliverAll(deps, alive);
      };
      await settle();
      for (let decisions = 0; (await question()) !== undefined; decisions++) {
        expect([commands, decisions]).toEqual([commands, Math.min(decisions, 3)]);
        const view = await question();
        const isQuestion = view?.approval.request.kind === 'input';
        await decideOn(alive(), view, isQuestion ? { decision: 'respond', message: '7' } : {}).catch(
          (error: unknown) => {
            if (!dying.died()) throw error;
          },
        );
        await settle();
      }
      faulted = dying.died();
      const { run, step } = await look();
      expect([commands, run]).toEqual([commands, 'succeeded']);
      const value = step?.outcome?.value && (await fromPayload(deps.blobs, step.outcome.value));
      expect([commands, value]).toEqual([commands, { round: 1, answers: { k: { n: 7 } }, state: 'after 0' }]);
      if (effect === 'workspace') expect([commands, treeOf(runId)]).toEqual([commands, [step?.id, step?.id]]);
      if (!faulted) expect(executions).toHaveLength(2);
      await soundLog(deps, runId);
    }
    expect(commands).toBeGreaterThan(20);
  },
);

test('each round has its own question, and the state of each goes back', async () => {
  const { answer, look, deps, question, executions } = await asked({ effect: 'external', questions: 3 });
  const digests = new Set<string | undefined>();
  for (let round = 1; round <= 3; round++) {
    digests.add((await question())?.digest);
    const { step: parked } = await look();
    expect([parked?.asked?.round, parked?.answers]).toEqual([round, undefined]);
    await answer(String(round));
  }
  expect(digests.size).toBe(3);
  const { step } = await look();
  const value = step?.outcome?.value && (await fromPayload(deps.blobs, step.outcome.value));
  expect(value).toEqual({ round: 3, answers: { k: { n: 3 } }, state: 'after 2' });
  expect(executions).toHaveLength(4);
});

test('the state is in no event and no answer of the engine', async () => {
  const { deps, runId, answer } = await asked({ effect: 'external' });
  await answer('{"n": 4}');
  const events = await Array.fromAsync(readWholeLog(deps.redis, runId));
  const asking = events.filter(({ type }) => type === 'step.asked');
  expect(asking).toMatchObject([{ data: { round: 1, state: { bytes: 7 } } }]);
  expect(JSON.stringify(asking)).not.toContain('after 0');
});

test('a wrong answer changes nothing, an agent answers nothing, and no question is approved', async () => {
  const { deps, question, answer, executions, look } = await asked({ effect: 'read' });
  await expect(answer('ten')).rejects.toMatchObject({ code: 'invalid_decision' });
  await expect(answer('10')).rejects.toMatchObject({ code: 'invalid_decision' });
  await expect(answer('7', { kind: 'agent' })).rejects.toMatchObject({ code: 'not_a_decider' });
  await expect(decideOn(deps, await question())).rejects.toMatchObject({ code: 'decision_not_allowed' });
  expect(executions).toHaveLength(1);
  await answer('9');
  expect((await look()).run).toBe('succeeded');
});

test('who decides on the call answers its question', async () => {
  const rule = { match: {}, action: 'hold' as const, deciders: { names: ['ann'] } };
  const { deps, question, look, runId } = await begin({ effect: 'external' }, { rules: [rule] });
  await deliverAll(deps);
  await decideOn(deps, await question());
  await deliverAll(deps);
  const view = await question();
  expect(view?.approval.request).toMatchObject({ kind: 'input', deciders: [{ names: ['ann'] }] });
  const said = { decision: 'respond' as const, action_digest: view?.digest ?? '', message: '7' };
  const { approval: { id = '' } = {} } = view ?? {};
  await expect(decideApproval(deps, id, { ...said, by: 'bob' })).rejects.toMatchObject({ code: 'not_a_decider' });
  await decideApproval(deps, id, { ...said, by: 'ann' });
  await deliverAll(deps);
  expect((await look()).run).toBe('succeeded');
  await soundLog(deps, runId);
});

test('the question of a call that needs a passkey needs one, and the answer is not asked to be proved again', async () => {
  const rule = { match: {}, action: 'hold' as const, confirm: 'passkey' as const };
  const { deps, question, answer, look, executions, runId } = await asked({ effect: 'external' }, { rules: [rule] });
  const confirm = proveWith(createTestPasskey(testSite));
  await decideOn(deps, await question(), { confirm });
  await deliverAll(deps);
  expect((await question())?.approval.request).toMatchObject({ kind: 'input', confirm: 'passkey' });
  await expect(answer('7')).rejects.toMatchObject({ code: 'passkey_required' });
  await answer('7', { confirm });
  expect((await look()).run).toBe('succeeded');
  expect(executions).toHaveLength(2);
  await soundLog(deps, runId);
});

test('where several have to agree on the call, its question ends the call', async () => {
  const rules = [{ match: {}, action: 'hold' as const, deciders: { quorum: 2 } }];
  const { deps, question, look, executions } = await asked({ effect: 'external' }, { rules });
  await decideOn(deps, await question(), { by: 'ann' });
  await decideOn(deps, await question(), { by: 'bob' });
  await deliverAll(deps);
  expect((await look()).step?.outcome?.error?.code).toBe('EQUORUM');
  expect(executions).toHaveLength(1);
});

test('an answer is no approval: a rule that holds the call since then is asked about before it runs again', async () => {
  const { deps, question, answer, executions, look, runId } = await asked({ effect: 'external' });
  const held = { rules: [{ name: 'since', match: {}, action: 'hold' as const }] };
  const { operatorPolicy } = deps;
  Object.assign(deps, { operatorPolicy: () => inForce(held) });
  await answer('7');
  expect(executions).toHaveLength(1);
  expect((await question())?.approval.request).toMatchObject({ kind: 'action', rule: { name: 'since' } });
  await decideOn(deps, await question());
  await deliverAll(deps);
  expect(executions).toHaveLength(2);
  expect((await look()).run).toBe('succeeded');
  Object.assign(deps, { operatorPolicy });
  await soundLog(deps, runId);
});

test('edited arguments are another call: its questions begin again', async () => {
  const { deps, question, answer, executions, look } = await asked({ effect: 'external' });
  const held = { rules: [{ match: {}, action: 'hold' as const }] };
  const { operatorPolicy } = deps;
  Object.assign(deps, { operatorPolicy: () => inForce(held) });
  await answer('7');
  await decideOn(deps, await question(), { decision: 'edit', args: { effect: 'external', questions: 1, n: 2 } });
  await deliverAll(deps);
  expect(executions).toHaveLength(2);
  expect((await question())?.approval.request.kind).toBe('input');
  const { step: again } = await look();
  expect([again?.asked?.round, again?.answers]).toEqual([1, undefined]);
  await answer('8');
  const { run, step } = await look();
  expect(run).toBe('succeeded');
  const value = step?.outcome?.value && (await fromPayload(deps.blobs, step.outcome.value));
  expect(value).toMatchObject({ round: 1, answers: { k: { n: 8 } } });
  Object.assign(deps, { operatorPolicy });
});

test('a declined, a canceled and an expired question settle the call without another execution', async () => {
  const declined = await asked({ effect: 'workspace' });
  await decideOn(declined.deps, await declined.question(), { decision: 'reject', message: 'no' });
  await deliverAll(declined.deps);
  expect((await declined.look()).step).toMatchObject({ status: 'failed', outcome: { error: { code: 'EREJECTED' } } });
  expect(declined.executions).toHaveLength(1);
  await soundLog(declined.deps, declined.runId);

  const canceled = await asked({ effect: 'external' });
  const { step } = await canceled.look();
  await requestCancelOfStep(canceled.deps, canceled.runId, step?.id ?? '', { by: 'ann' });
  await deliverAll(canceled.deps);
  expect((await canceled.look()).step).toMatchObject({ status: 'killed' });
  expect(canceled.executions).toHaveLength(1);
  await soundLog(canceled.deps, canceled.runId);
});
