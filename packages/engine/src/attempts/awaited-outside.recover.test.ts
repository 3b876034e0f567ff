import { expect, test } from 'vitest';
import { requestCancel, requestCancelOfStep, submitRun } from '../commands/index.ts';
import { retryAttempt, startAttempt } from '../domain/index.ts';
import { handleStep } from '../handlers/handle-step.ts';
import { append, fromPayload, readWholeLog } from '../log/index.ts';
import type { ExecutionContext } from '../ports/index.ts';
import { listSteps } from '../queries/index.ts';
import { decideOn, pendingApprovals } from '../testing/decide.ts';
import { calm } from '../testing/deliver-all.ts';
import { dyingAt } from '../testing/dying-process.ts';
import { deliverAll, inMemoryWorker, specOf, sweepOnce } from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { tapCommands } from '../testing/tap-commands.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';

const engine = useTestEngine();

/** Between the commands at which a process dies: every one of them in `npm run test:crash`. */
const stride = process.env.HOLDPOINT_CRASH === 'full' ? 1 : 5;
const allowAll = { rules: [{ match: {}, action: 'allow' as const }] };

async function begin(
  args: object,
  policy: object = allowAll,
  during: (context: ExecutionContext) => Promise<unknown> = async () => {},
) {
  const executed: ExecutionContext[] = [];
  const worker = inMemoryWorker(engine, {
    execute: async (context) => {
      executed.push(context);
      await during(context);
    },
  });
  const { deps } = worker;
  await deps.redis.flushdb();
  const { runId } = await submitRun(deps, {
    spec: specOf([[{ args: { later: 3, ...args } }, { args: { effect: 'read' } }]], { policy }),
    by: 'test',
  });
  const calls = () => {
    const made = executed.filter(({ awaited, stepId }) => awaited === undefined && stepId === executed[0]?.stepId);
    const asked = executed.flatMap(({ awaited }) => (awaited && !awaited.over ? [JSON.parse(awaited.outside)] : []));
    return { made, asked, over: executed.filter(({ awaited }) => awaited?.over) };
  };
  const look = async () => {
    const { run, steps } = await listSteps(deps, runId);
    return { run, step: steps[0], next: steps[1] };
  };
  return { ...worker, runId, calls, look };
}

test.each([
  ['read', 'before'],
  ['read', 'after'],
  ['workspace', 'before'],
  ['workspace', 'after'],
  ['external', 'before'],
  ['external', 'after'],
] as const)(
  'a process that dies in a call whose result comes later (%s) %s any one command to Redis asks about the same call',
  async (effect, when) => {
    let faulted = true;
    let commands = 1;
    for (; faulted; commands += stride) {
      const { deps, runId, calls, look, treeOf } = await begin({ effect });
      const dying = dyingAt(deps, commands, when);
      const alive = () => (dying.died() ? deps : dying.deps);
      let decisions = 0;
      for (let rounds = 0; rounds < 12 && (await look()).run.status !== 'succeeded'; rounds++) {
        await deliverAll(deps, alive);
        await sweepOnce(deps);
        const [view] = await pendingApprovals(deps, runId);
        if (view === undefined) continue;
        // Only the call itself may leave a person in doubt, never a question about it.
        expect([commands, effect, calls().asked]).toEqual([commands, 'external', []]);
        decisions += 1;
        await decideOn(deps, view);
      }
      faulted = dying.died();
      const { run, step } = await look();
      expect([commands, run.status]).toEqual([commands, 'succeeded']);
      const { made, asked, over } = calls();
      const last = made.at(-1)?.attempt;
      const value = step?.outcome?.value && (await fromPayload(deps.blobs, step.outcome.value));
      expect([commands, value]).toEqual([commands, { made: last }]);
      expect([commands, new Set(asked.map((one) => one.made))]).toEqual([commands, new Set([last])]);
      if (effect === 'external') expect([commands, made.length <= decisions + 1]).toEqual([commands, true]);
      if (effect !== 'read') expect([commands, treeOf(runId)]).toEqual([commands, [step?.id]]);
      expect(over).toEqual([]);
      if (!faulted) expect([made.length, asked.length]).toEqual([1, 3]);
      await soundLog(deps, runId);
    }
    expect(commands).toBeGreaterThan(20);
  },
);

test('a later call of the turn waits for the result, and a held call is approved once', async () => {
  const { deps, runId, calls, look } = await begin({ effect: 'external' }, { rules: [{ match: {}, action: 'hold' }] });
  await deliverAll(deps);
  const [view] = await pendingApprovals(deps, runId);
  await decideOn(deps, view);
  await deliverAll(deps);
  const waiting = await look();
  expect([waiting.step?.status, waiting.next?.status, waiting.run.writer]).toEqual(['deferred', 'pending', '']);
  for (let rounds = 0; rounds < 3; rounds++) {
    expect(await pendingApprovals(deps, runId)).toEqual([]);
    await sweepOnce(deps);
    await deliverAll(deps);
  }
  expect((await look()).step?.status).toBe('succeeded');
  expect(calls().made).toHaveLength(1);
});

test('what identifies the work is in no event', async () => {
  const { deps, runId } = await begin({ effect: 'external' });
  await deliverAll(deps);
  const events = await Array.fromAsync(readWholeLog(deps.redis, runId));
  const waits = events.filter(({ type }) => type === 'step.deferred');
  expect(waits).toMatchObject([{ data: { attempt: 1, outside: { bytes: 20 } } }]);
  expect(JSON.stringify(events)).not.toContain('asked');
});

test.each(['run', 'step'])('a canceled %s lets go of the work, whichever command its process dies at', async (what) => {
  let faulted = true;
  let commands = 1;
  for (; faulted; commands += stride) {
    const { deps, runId, calls, look } = await begin({ effect: 'external' });
    await deliverAll(deps);
    // The queue has the job of the step, which sleeps in between.
    await sweepOnce(deps);
    const { step } = await look();
    if (what === 'run') await requestCancel(deps, runId, { by: 'ann' });
    else await requestCancelOfStep(deps, runId, step?.id ?? '', { by: 'ann' });
    const dying = dyingAt(deps, commands, 'before');
    const alive = () => (dying.died() ? deps : dying.deps);
    await deliverAll(deps, alive);
    await sweepOnce(deps);
    await deliverAll(deps);
    faulted = dying.died();
    const { made, asked, over } = calls();
    expect([commands, (await look()).step?.status, made.length, asked.length]).toEqual([commands, 'killed', 1, 0]);
    expect([commands, over.length > 0, over[0]?.awaited]).toEqual([
      commands,
      true,
      { outside: '{"made":1,"asked":0}', over: true },
    ]);
    if (!faulted) expect(over).toHaveLength(1);
    await soundLog(deps, runId);
  }
  expect(commands).toBeGreaterThan(3);
});

test('the job of the step that finds its run canceled lets go of the work', async () => {
  const { deps, runId, calls, look } = await begin({ effect: 'external' });
  await deliverAll(deps);
  const { step } = await look();
  await requestCancel(deps, runId, { by: 'ann' });
  await handleStep(deps, { run_id: runId, step_id: step?.id ?? '' }, calm());
  expect((await look()).step?.status).toBe('killed');
  await handleStep(deps, { run_id: runId, step_id: step?.id ?? '' }, calm());
  expect(calls().over).toHaveLength(1);
  await deliverAll(deps);
  expect((await look()).run.status).toBe('canceled');
  await soundLog(deps, runId);
});

test('so does the job of a question whose worker was lost', async () => {
  const { deps, runId, calls, look } = await begin({ effect: 'external' });
  await deliverAll(deps);
  const { run, step } = await look();
  if (step === undefined) throw new Error('no step');
  await append(deps, runId, startAttempt(run, step, 'lost'));
  const running = { ...step, status: 'running' as const, attempt: 2 };
  await append(deps, runId, retryAttempt(run, running, { code: 'EWORKERLOST', message: 'lost' }, { pause: false }));
  await requestCancel(deps, runId, { by: 'ann' });
  expect((await look()).step?.status).toBe('queued');
  await handleStep(deps, { run_id: runId, step_id: step.id }, calm());
  expect((await look()).step?.status).toBe('killed');
  expect(calls().over).toHaveLength(1);
  await deliverAll(deps);
  await soundLog(deps, runId);
});

test('a run that is canceled while the wait is recorded lets go of the work', async () => {
  const { deps, runId, calls, look } = await begin({ effect: 'external' });
  let isCanceled = false;
  const tapped = tapCommands(deps, async (_, send) => {
    if (calls().made.length === 1 && !isCanceled) {
      isCanceled = true;
      await requestCancel(deps, runId, { by: 'ann' });
    }
    return send();
  });
  await deliverAll(deps, () => tapped);
  await sweepOnce(deps);
  await deliverAll(deps);
  const { run, step } = await look();
  expect([run.status, step?.status, isCanceled]).toEqual(['canceled', 'killed', true]);
  expect(calls().over[0]?.awaited).toEqual({ outside: '{"made":1,"asked":0}', over: true });
  await soundLog(deps, runId);
});

test.each(['run', 'step'])('a %s that is canceled while the other side is asked lets go once', async (what) => {
  const stop = new AbortController();
  const { deps, runId, calls, look } = await begin({ effect: 'external' }, allowAll, async ({ awaited, stepId }) => {
    if (awaited === undefined || awaited.over) return;
    if (what === 'run') await requestCancel(deps, runId, { by: 'ann' });
    else await requestCancelOfStep(deps, runId, stepId, { by: 'ann' });
    stop.abort('canceled');
  });
  await deliverAll(deps);
  const job = { run_id: runId, step_id: (await look()).step?.id ?? '' };
  await handleStep(deps, job, { ...calm(), signal: stop.signal });
  expect((await look()).step?.status).toBe('killed');
  // The cancel may have woken the step after its job had ended.
  await handleStep(deps, job, calm());
  expect(calls().over).toHaveLength(1);
  await deliverAll(deps);
  await soundLog(deps, runId);
});
