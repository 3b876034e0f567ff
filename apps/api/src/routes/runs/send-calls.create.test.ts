import type { Json } from '@holdpoint/contract';
import { receivedCallsSchema } from '@holdpoint/contract/wire';
import { notificationChannel, openEngine } from '@holdpoint/engine';
import { logKey, stateKey } from '@holdpoint/engine/testing';
import { createRegistry, everyToolset } from '@holdpoint/tools';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { problemOf, startTestApi, type TestApi } from '../../testing/test-api.ts';
import { type TestWorker, testWorker } from '../../testing/test-worker.ts';
import { showReceived } from './send-calls.ts';

let api: TestApi;
let worker: TestWorker;
beforeAll(async () => {
  api = await startTestApi({ heartbeatMs: 200 });
  worker = testWorker(api.engine, api.dataDir);
});
afterAll(() => api.stop());

const write = (path: string, content = '1') => ({ tool: 'write_file', args: { path, content } });

async function openRun(): Promise<string> {
  const { id } = (await api.client.createRun({ open: true })).run;
  await worker.drive(id);
  expect(await api.client.getRun(id)).toMatchObject({ status: 'waiting', planner: 'open', turn: 0, open_steps: 0 });
  return id;
}
const post = (id: string, body: unknown, headers = {}) => api.post(`/v1/runs/${id}/calls`, body, headers);

test('exactly one of prompt, plan and open is the goal of a run', async () => {
  const plan = { groups: [{ steps: [write('a')] }] };
  for (const body of [
    {},
    { open: true, plan },
    { open: true, prompt: 'Go.' },
    { open: false },
    { open: true, model: 'x/y' },
  ]) {
    const response = await api.post('/v1/runs', body);
    expect(await problemOf(response)).toMatchObject({ status: 422, code: 'invalid_request' });
  }
});

test('a call that waits behind another turn is shown, and canceled alone', async () => {
  const id = await openRun();
  await post(id, { calls: [write('a')] });
  await post(id, { calls: [write('b'), write('c')] });
  await post(id, { calls: [write('d')] });
  const [kept = '', gone = ''] = (await api.client.getCalls(id, 2)).steps.map((step) => step.id);
  const [alone = ''] = (await api.client.getCalls(id, 3)).steps.map((step) => step.id);
  expect(await api.client.getStep(gone)).toMatchObject({ id: gone, status: 'pending', turn: null, cancel: null });
  const asked = await api.client.cancelStep(gone, { message: 'not c' });
  const end = { status: 'canceled', cancel: { message: 'not c' }, error: { code: 'ECANCELED' }, attempts: 0 };
  expect(asked).toMatchObject({ ...end, turn: null, settled_at: expect.any(String) });
  expect(await api.client.cancelStep(gone)).toEqual(asked);
  expect(await api.client.getCalls(id, 2)).toMatchObject({ settled: false, steps: [{ status: 'pending' }, end] });
  await api.client.cancelStep(alone);
  expect(await api.client.getCalls(id, 3)).toMatchObject({ settled: true, turn: null });
  await worker.drive(id);
  expect(await api.client.getStep(gone)).toMatchObject({ ...end, turn: 2 });
  expect(await api.client.getStep(kept)).toMatchObject({ status: 'succeeded' });
  expect(await api.client.getCalls(id, 3)).toMatchObject({ settled: true, turn: 3, steps: [{ status: 'canceled' }] });
  const refused = await api.post(`/v1/steps/${kept}/cancel`, {});
  expect(await problemOf(refused)).toMatchObject({ status: 409, code: 'step_settled' });
});

test('calls are settled in the answer when the caller waits, and are its steps', async () => {
  const id = await openRun();
  const sent = await post(id, { calls: [write('a'), { tool: 'read_flie' }] });
  expect(sent.status).toBe(202);
  expect(await sent.json()).toMatchObject({
    ...{ number: 1, turn: 1, settled: false },
    steps: [
      { tool: 'write_file', status: 'queued', turn: 1, index: 0 },
      { status: 'failed', error: { code: 'EUNKNOWNTOOL' } },
    ],
  });
  const waiting = api.client.sendCalls(id, { calls: [{ ...write('b'), name: 'later' }] }, { waitS: 50 });
  await expect.poll(async () => (await api.send(`/v1/runs/${id}/calls/2`)).status).toBe(202);
  expect(await api.client.getCalls(id, 2)).toMatchObject({
    ...{ turn: null, settled: false },
    steps: [{ tool: 'write_file', name: 'later', status: 'pending', turn: null, args: { path: 'b', content: '1' } }],
  });
  await worker.drive(id);
  await worker.drive(id);
  expect(await waiting).toMatchObject({ number: 2, turn: 2, settled: true, steps: [{ status: 'succeeded' }] });
  const read = await api.send(`/v1/runs/${id}/calls/1?wait_s=1`);
  expect([read.status, receivedCallsSchema.parse(await read.json()).steps[0]?.status]).toEqual([200, 'succeeded']);
  expect(await api.client.finishRun(id, { message: 'two files' })).toMatchObject({
    status: 'succeeded',
    message: 'two files',
  });
  expect((await api.client.diff(id)).files.map(({ path }) => path)).toEqual(['a', 'b']);
});

test('the same Idempotency-Key returns the first calls, and refuses others', async () => {
  const id = await openRun();
  const key = { 'idempotency-key': 'once' };
  const body = { calls: [write('a')] };
  const [first, again] = [await (await post(id, body, key)).json(), await (await post(id, body, key)).json()];
  expect(again).toEqual(first);
  const other = await post(id, { calls: [write('b')] }, key);
  expect(await problemOf(other)).toMatchObject({ status: 422, code: 'idempotency_key_reused' });
  expect(await api.client.getRun(id)).toMatchObject({ usage: { steps: 1 } });
});

test.each<[string, object, string]>([
  ['no calls', { calls: [] }, '/calls'],
  ['too many calls', { calls: Array.from({ length: 65 }, () => write('a')) }, '/calls'],
  [
    'a name twice',
    {
      calls: [
        { ...write('a'), name: 'a' },
        { ...write('b'), name: 'a' },
      ],
    },
    '/calls/1/name',
  ],
  ['a wrong name', { calls: [{ ...write('a'), name: 'A b' }] }, '/calls/0/name'],
  ['an unknown field', { calls: [{ ...write('a'), arguments: {} }] }, '/calls/0'],
])('%s are refused with their place', async (_, body, pointer) => {
  const id = await openRun();
  const problem = await problemOf(await post(id, body));
  expect(problem).toMatchObject({ status: 422, code: 'invalid_request' });
  expect(problem.errors?.[0]?.pointer).toMatch(new RegExp(`^${pointer}`));
  expect((await api.client.getRun(id)).turn).toBe(0);
});

test('arguments of any kind settle with the error of the tool', async () => {
  const id = await openRun();
  const wrong: Json[] = [null, 7, 'a', [1], {}, { path: 1 }, { path: 'a', content: '', more: 1 }];
  const calls = wrong.map((args) => ({ tool: 'write_file', args }));
  const { steps, settled } = await api.client.sendCalls(id, { calls });
  expect(settled).toBe(true);
  expect(new Set(steps.map(({ status, error }) => `${status} ${error?.code}`))).toEqual(
    new Set(['failed EINVALIDARGS']),
  );
});

test('calls and finish are refused for a run that is not open, not active, or not settled', async () => {
  const scripted = (await api.client.createRun({ plan: { groups: [{ steps: [write('a')] }] } })).run.id;
  const body = { calls: [write('a')] };
  expect(await problemOf(await post(scripted, body))).toMatchObject({ status: 409, code: 'run_not_open' });
  const id = await openRun();
  await post(id, body);
  const finish = () => api.post(`/v1/runs/${id}/finish`, {});
  expect(await problemOf(await finish())).toMatchObject({ status: 409, code: 'calls_pending' });
  for (const number of ['2', '0', 'x', '99999999999']) {
    const response = await api.send(`/v1/runs/${id}/calls/${number}`);
    expect(await problemOf(response)).toMatchObject({ status: 404, code: 'calls_not_found' });
  }
  await worker.drive(id);
  expect((await finish()).status).toBe(200);
  expect((await finish()).status).toBe(200);
  expect(await problemOf(await post(id, body))).toMatchObject({ status: 409, code: 'run_not_active' });
});

test('an answer leaves out what is too much for it, and the step has the whole', async () => {
  const id = await openRun();
  const content = 'x'.repeat(50_000);
  await api.client.sendCalls(id, { calls: [write('a', content), write('b', content), write('c')] });
  await worker.drive(id);
  const engine = openEngine(api.engine).as({ name: 'ann', kind: 'person', tenant: 'default' });
  const received = await engine.runs.calls(id, 1);
  const shown = await showReceived(
    { engine, catalog: createRegistry(everyToolset) },
    { runId: id, number: 1, received },
    60_000,
  );
  expect(shown.settled).toBe(true);
  expect(shown.steps.map(({ left_out, args }) => [left_out, args === null])).toEqual([
    [false, false],
    [true, true],
    [true, true],
  ]);
  expect((await api.client.getStep(shown.steps[1]?.id ?? '')).args).toMatchObject({ path: 'b', content });
  expect((await api.client.getCalls(id, 1)).steps.every(({ left_out }) => !left_out)).toBe(true);
});

test('a wait ends although the notification of the outcome is lost', { timeout: 30_000 }, async () => {
  const id = await openRun();
  const { redis } = api.engine;
  const keys = [stateKey(id), logKey(id)];
  const dump = () => Promise.all(keys.map((key) => redis.dumpBuffer(key)));
  const restore = (all: (Buffer | null)[]) =>
    Promise.all(all.map((copy, place) => copy && redis.restore(keys[place] ?? '', 0, copy, 'REPLACE')));
  await post(id, { calls: [write('c')] });
  const before = await dump();
  await worker.drive(id);
  const settled = await dump();
  await restore(before);
  const waiting = api.client.getCalls(id, 1, { waitS: 60 });
  await expect.poll(() => redis.pubsub('NUMSUB', notificationChannel(id))).toEqual([notificationChannel(id), 1]);
  // Nothing is published.
  await restore(settled);
  expect(await waiting).toMatchObject({ settled: true, steps: [{ status: 'succeeded' }] });
});
