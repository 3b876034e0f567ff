import type { PostedCall } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { listSteps } from '../queries/index.ts';
import { readCalls } from '../queries/read-calls.ts';
import { approveFirst } from '../testing/decide.ts';
import { deliverAll, type InMemoryWorker, inMemoryWorker, openSpec, specOf, sweepOnce } from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { finishRun } from './finish-run.ts';
import { forkRun } from './fork-run.ts';
import { retryRun } from './retry-run.ts';
import { sendCalls } from './send-calls.ts';
import { requestCancel, requestPause, requestResume } from './steer-run.ts';
import { submitRun } from './submit-run.ts';
import { undoSteps } from './undo-run.ts';

const engine = useTestEngine();

const count = (args: PostedCall['args'], name?: string): PostedCall => ({ tool: 'count', args, name });
const write = count({ effect: 'workspace' });
const read = count({ effect: 'read' });
const runOf = async (runId: string) => (await listSteps(engine.deps, runId)).run;

async function openRun(more: Parameters<typeof openSpec>[0] = {}) {
  const worker = inMemoryWorker(engine);
  const { deps } = worker;
  const { runId } = await submitRun(deps, { spec: openSpec(more), by: 'test' });
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({ status: 'waiting', awaits_calls: expect.any(String) });
  const send = (...calls: PostedCall[]) => sendCalls(deps, runId, { calls, by: 'ann' });
  const statuses = async (number: number) => (await readCalls(deps, runId, number)).steps.map(({ status }) => status);
  return { ...worker, runId, send, statuses };
}
const jobs = async (deps: InMemoryWorker['deps']) =>
  (await Promise.all([deps.queues.turns.getJobCountByTypes(), deps.queues.steps.getJobCountByTypes()])) as number[];

test('calls are made as they come, and the run waits between them without a job', async () => {
  const { deps, runId, send, statuses, tree } = await openRun();
  expect(await jobs(deps)).toEqual([0, 0]);
  for (let turn = 1; turn <= 3; turn++) {
    expect(await send(write)).toBe(turn);
    // One job for one call: none for its turn, before or after.
    expect(await jobs(deps)).toEqual([0, 1]);
    await deliverAll(deps);
    expect(await statuses(turn)).toEqual(['succeeded']);
    expect(await runOf(runId)).toMatchObject({ status: 'waiting', turn, open: 0 });
  }
  expect(tree).toHaveLength(3);
  await sweepOnce({ ...deps, now: () => Date.now() + 60_000 });
  expect(await jobs(deps)).toEqual([0, 0]);
  await finishRun(deps, runId, { message: 'bye' });
  await finishRun(deps, runId, {});
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({ status: 'succeeded', message: 'bye' });
  const events = await soundLog(deps, runId);
  expect(events.some(({ type }) => type === 'run.repaired')).toBe(false);
  await expect(send(write)).rejects.toMatchObject({ code: 'run_not_active' });
});

test('calls behind an open turn wait in order, and a reference finds a result of any earlier turn', async () => {
  const { deps, runId, send, statuses } = await openRun();
  await send(count({ effect: 'workspace' }, 'first'), write);
  await send(count({ effect: 'read', note: { $from: 'first', pointer: '/count' } }, 'second'));
  await send(count({ effect: 'read', note: { $from: 'none', pointer: '' } }), read);
  expect(await statuses(2)).toEqual([]);
  expect((await readCalls(deps, runId, 2)).waiting).toMatchObject([{ index: 0, isDropped: false }]);
  await expect(finishRun(deps, runId, {})).rejects.toMatchObject({ code: 'calls_pending' });
  await deliverAll(deps);
  expect(await statuses(2)).toEqual(['succeeded']);
  expect(await statuses(3)).toEqual(['failed', 'succeeded']);
  const [, , second, third] = (await listSteps(deps, runId)).steps;
  expect(second?.args).toEqual({ json: { effect: 'read', note: 1 } });
  expect(third?.outcome?.error).toMatchObject({ code: 'EREFERENCE' });
  expect(await runOf(runId)).toMatchObject({ status: 'waiting', turn: 3, received: 3, taken: 3 });
  await soundLog(deps, runId);
});

test('a call with an unknown tool settles with its error at once, and the run waits again', async () => {
  const { deps, runId, send, statuses } = await openRun();
  await send({ tool: 'cuont', args: {} });
  expect(await statuses(1)).toEqual(['failed']);
  expect(await runOf(runId)).toMatchObject({ status: 'waiting', turn: 1, open: 0 });
  expect(await jobs(deps)).toEqual([0, 0]);
  await send(read, { tool: 'cuont', args: {} });
  await send({ tool: 'cuont', args: {} });
  await deliverAll(deps);
  expect([await statuses(2), await statuses(3)]).toEqual([['succeeded', 'failed'], ['failed']]);
  expect(await runOf(runId)).toMatchObject({ status: 'waiting', turn: 3 });
  await soundLog(deps, runId);
});

test('the same key and body are the same calls, and another body is refused', async () => {
  const { deps, runId } = await openRun();
  const request = (body: unknown) => ({ calls: [write], by: 'ann', idempotency: { key: 'k', body } });
  const numbers = await Promise.all([1, 2, 3].map(() => sendCalls(deps, runId, request({ a: 1, b: 2 }))));
  expect(numbers).toEqual([1, 1, 1]);
  await deliverAll(deps);
  expect(await sendCalls(deps, runId, request({ b: 2, a: 1 }))).toBe(1);
  await expect(sendCalls(deps, runId, request({ a: 2 }))).rejects.toMatchObject({ code: 'idempotency_key_reused' });
  expect(await runOf(runId)).toMatchObject({ steps: 1, received: 1 });
  await finishRun(deps, runId, {});
  // Its answer was lost, and the run has ended since.
  expect(await sendCalls(deps, runId, request({ a: 1, b: 2 }))).toBe(1);
  await soundLog(deps, runId);
});

test('only so many turns of calls wait', async () => {
  const { send } = await openRun();
  for (let turn = 0; turn <= 100; turn++) await send(write);
  await expect(send(write)).rejects.toMatchObject({ code: 'too_many_calls' });
});

test('a held call parks in its own job, and the run waits for calls after the decision', async () => {
  const { deps, runId, send, statuses } = await openRun({
    policy: { rules: [{ match: { effect: 'workspace' }, action: 'hold' }] },
  });
  await send(write, read);
  expect(await jobs(deps)).toEqual([0, 1]);
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({ status: 'waiting', parked: 1 });
  expect((await runOf(runId)).awaits_calls || undefined).toBeUndefined();
  await approveFirst(deps, runId);
  await deliverAll(deps);
  expect(await statuses(1)).toEqual(['succeeded', 'succeeded']);
  expect(await runOf(runId)).toMatchObject({ status: 'waiting', awaits_calls: expect.any(String) });
  await soundLog(deps, runId);
});

test('calls that come before the run has begun, or while it is paused, are made then', async () => {
  const { deps } = inMemoryWorker(engine);
  const { runId } = await submitRun(deps, { spec: openSpec(), by: 'test' });
  const send = () => sendCalls(deps, runId, { calls: [write], by: 'ann' });
  await send();
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({ status: 'waiting', turn: 1, open: 0 });
  await requestPause(deps, runId, 'ann');
  await send();
  await expect(finishRun(deps, runId, {})).rejects.toMatchObject({ code: 'calls_pending' });
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({ status: 'paused', turn: 1 });
  await requestResume(deps, runId, { by: 'ann' });
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({ status: 'waiting', turn: 2, open: 0 });
  await soundLog(deps, runId);
});

test('a run that is finished before it has begun ends once its workspace is there', async () => {
  const { deps } = inMemoryWorker(engine);
  const { runId } = await submitRun(deps, { spec: openSpec(), by: 'test' });
  await finishRun(deps, runId, {});
  await expect(sendCalls(deps, runId, { calls: [write], by: 'ann' })).rejects.toMatchObject({ code: 'run_not_active' });
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({ status: 'succeeded', turn: 0 });
  await soundLog(deps, runId);
});

test('a cancel drops the calls that wait, and a retry opens the run again', async () => {
  const { deps, runId, send, statuses } = await openRun();
  await send(write);
  await deliverAll(deps);
  await send(write);
  await send(write);
  await requestCancel(deps, runId, { by: 'ann' });
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({ status: 'canceled', received: 3, taken: 3 });
  expect(await statuses(2)).toEqual(['canceled']);
  expect((await readCalls(deps, runId, 3)).waiting).toMatchObject([{ isDropped: true }]);
  await soundLog(deps, runId);
  await retryRun(deps, runId, { keepExternalEffects: false, by: 'ann' });
  await deliverAll(deps);
  expect([await statuses(1), await statuses(2)]).toEqual([['succeeded'], ['canceled']]);
  expect(await runOf(runId)).toMatchObject({ status: 'waiting', awaits_calls: expect.any(String) });
  await send(write);
  await deliverAll(deps);
  expect(await statuses(4)).toEqual(['succeeded']);
  await soundLog(deps, runId);
});

test('an idle run ends as failed, and a retry keeps all that was done', async () => {
  const { deps, runId, send } = await openRun({ limits: { idle_s: 100 } });
  await send(write, { tool: 'cuont', args: {} });
  await deliverAll(deps);
  await sweepOnce({ ...deps, now: () => Date.now() + 50_000 });
  expect(await runOf(runId)).toMatchObject({ status: 'waiting' });
  await sweepOnce({ ...deps, now: () => Date.now() + 101_000 });
  expect(await runOf(runId)).toMatchObject({ status: 'failed', reason: { code: 'idle' } });
  await soundLog(deps, runId);
  expect(await retryRun(deps, runId, { keepExternalEffects: false, by: 'ann' })).toEqual([]);
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({ status: 'waiting', turn: 1, awaits_calls: expect.any(String) });
  await soundLog(deps, runId);
});

test('time without calls is no running time, and max_steps pauses the run', async () => {
  const { deps, runId, send } = await openRun({ limits: { max_steps: 2, wall_s: 1000 } });
  const later = { ...deps, now: () => Date.now() + 5_000_000 };
  await sendCalls(later, runId, { calls: [write], by: 'ann' });
  await deliverAll(later);
  await send(write, write);
  expect(await runOf(runId)).toMatchObject({ status: 'paused', reason: { code: 'max_steps' }, received: 2, taken: 1 });
  await requestResume(deps, runId, { by: 'ann' });
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({ status: 'waiting', turn: 2, open: 0 });
  await soundLog(deps, runId);
});

test('an undo takes turns back, keeps the calls that wait, and a fork continues from any step', async () => {
  const { deps, runId, send, statuses, tree, treeOf } = await openRun();
  for (let turn = 0; turn < 3; turn++) {
    await send(count({ effect: 'workspace' }, `step_${turn}`), write);
    await deliverAll(deps);
  }
  await requestPause(deps, runId, 'ann');
  await send(count({ effect: 'read', note: { $from: 'step_0', pointer: '/count' } }));
  await undoSteps(deps, runId, { toStep: 3, keepExternalEffects: false, by: 'ann' });
  await requestResume(deps, runId, { by: 'ann' });
  await deliverAll(deps);
  expect(await statuses(4)).toEqual(['succeeded']);
  expect(tree).toHaveLength(4);
  expect(await runOf(runId)).toMatchObject({ status: 'waiting', turn: 3, received: 4, taken: 4 });
  const child = await forkRun(deps, runId, { fromStep: 3, changes: {}, by: 'ann' });
  await deliverAll(deps);
  expect(await runOf(child.runId)).toMatchObject({ status: 'waiting', turn: 2, open: 0 });
  expect(treeOf(child.runId)).toHaveLength(4);
  const args = { effect: 'read', note: { $from: 'step_1', pointer: '/count' } };
  await sendCalls(deps, child.runId, { calls: [count(args)], by: 'ann' });
  await deliverAll(deps);
  expect((await readCalls(deps, child.runId, 1)).steps).toMatchObject([{ status: 'succeeded' }]);
  for (const id of [runId, child.runId]) await soundLog(deps, id);
});

test('a background command runs on between the turns, and its end wakes nothing', async () => {
  const { deps, runId, send, statuses, tree } = await openRun();
  await send(count({ effect: 'read', background: 'beside' }));
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({ status: 'waiting', open_tasks: 0, awaits_calls: expect.any(String) });
  expect(tree).toHaveLength(1);
  await send(write);
  await deliverAll(deps);
  expect(await statuses(2)).toEqual(['succeeded']);
  await soundLog(deps, runId);
});

test('a sub-agent that waits for a person does not end the wait for calls', async () => {
  const { deps, runId, send } = await openRun();
  const agent = { groups: [{ steps: [{ tool: 'count', args: { effect: 'external' } }] }] };
  await send(count({ effect: 'read', agent, beside: true }));
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({ status: 'waiting', open_tasks: 1, awaits_calls: expect.any(String) });
  await sweepOnce({ ...deps, now: () => Date.now() + 60_000 });
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({ status: 'waiting', open_tasks: 1, awaits_calls: expect.any(String) });
  await finishRun(deps, runId, {});
  await deliverAll(deps);
  expect(await runOf(runId)).toMatchObject({ status: 'succeeded', open_tasks: 0 });
  await soundLog(deps, runId);
});

test('only an open run receives calls', async () => {
  const { deps } = inMemoryWorker(engine);
  const { runId } = await submitRun(deps, { spec: specOf([[{ args: { effect: 'read' } }]]), by: 'test' });
  await expect(sendCalls(deps, runId, { calls: [read], by: 'ann' })).rejects.toMatchObject({ code: 'run_not_open' });
  await expect(finishRun(deps, runId, {})).rejects.toMatchObject({ code: 'run_not_open' });
});

test('calls that come while a call runs are made after it, and none is missed', async () => {
  const sent: number[] = [];
  const { deps } = inMemoryWorker(engine, {
    async execute({ runId }) {
      if (sent.length < 3) sent.push(await sendCalls(deps, runId, { calls: [write], by: 'ann' }));
    },
  });
  const { runId } = await submitRun(deps, { spec: openSpec(), by: 'test' });
  await deliverAll(deps);
  await sendCalls(deps, runId, { calls: [write], by: 'ann' });
  await deliverAll(deps);
  expect(sent).toEqual([2, 3, 4]);
  expect(await runOf(runId)).toMatchObject({ status: 'waiting', turn: 4, received: 4, taken: 4 });
  const events = await soundLog(deps, runId);
  expect(events.some(({ type }) => type === 'run.repaired')).toBe(false);
});

test('calls of several callers, while the run starts and works, are each made once', async () => {
  const { deps, treeOf } = inMemoryWorker(engine);
  const { runId } = await submitRun(deps, { spec: openSpec(), by: 'test' });
  const send = () => sendCalls(deps, runId, { calls: [write], by: 'ann' });
  const working = deliverAll(deps);
  const numbers = await Promise.all(Array.from({ length: 10 }, send));
  await working;
  for (let round = 0; (await runOf(runId)).taken < 10; round++) {
    expect(round).toBeLessThan(20);
    await deliverAll(deps);
    await sweepOnce({ ...deps, now: () => Date.now() + 10_000 });
  }
  await deliverAll(deps);
  expect(numbers.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(treeOf(runId)).toHaveLength(10);
  expect(await runOf(runId)).toMatchObject({ status: 'waiting', turn: 10, received: 10, taken: 10 });
  await soundLog(deps, runId);
});

test('calls that come just before the run records that it waits are made without a sweep', async () => {
  const { deps, treeOf } = inMemoryWorker(engine);
  const { runId } = await submitRun(deps, { spec: openSpec(), by: 'test' });
  let sent = 0;
  const redis = new Proxy(deps.redis, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return async (...args: unknown[]) => {
        if (sent === 0 && args.some((arg) => String(arg).includes('"run.waiting"'))) {
          sent = await sendCalls(deps, runId, { calls: [write], by: 'ann' });
        }
        return Reflect.apply(value, target, args);
      };
    },
  });
  await deliverAll({ ...deps, redis });
  expect([sent, treeOf(runId).length]).toEqual([1, 1]);
  expect(await runOf(runId)).toMatchObject({ status: 'waiting', turn: 1, received: 1, taken: 1 });
  await soundLog(deps, runId);
});
