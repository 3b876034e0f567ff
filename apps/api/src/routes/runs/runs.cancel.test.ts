import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CreateRun, Step } from '@holdpoint/contract/wire';
import { readRun, readWholeLog, submitRun } from '@holdpoint/engine/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { contentOf, problemOf, startTestApi, type TestApi } from '../../testing/test-api.ts';
import { type TestWorker, testWorker } from '../../testing/test-worker.ts';

let api: TestApi;
let worker: TestWorker;
let source: string;
beforeAll(async () => {
  api = await startTestApi({ models: { ollama: {} }, publicationWaitMs: 60_000 });
  worker = testWorker(api.engine, api.dataDir);
});
afterAll(() => api.stop());
beforeEach(async () => {
  source = await mkdtemp(join(tmpdir(), 'hp-source-'));
});
afterEach(() => rm(source, { recursive: true, force: true }));

const write = (path: string, content: string) => ({ tool: 'write_file', args: { path, content } });
/** The test worker knows no such tool: the step fails. */
const failing = { tool: 'bash', args: { command: 'false' } };
const stepsOf = async (id: string): Promise<Step[]> => (await api.client.listSteps(id)).data;
const pathsOf = async (id: string) => (await api.client.diff(id)).files.map(({ path }) => path);
const eventsOf = async (id: string) => Array.fromAsync(readWholeLog(api.engine.redis, id));

async function submit(body: Partial<CreateRun> = {}): Promise<string> {
  const workspace = { source: { type: 'directory', path: source } } as const;
  const { id } = (await api.client.createRun({ plan: { groups: [{ steps: [write('a', '1')] }] }, workspace, ...body }))
    .run;
  return id;
}
/** Two files, then a step that fails. */
async function failed(): Promise<string> {
  const groups = [{ steps: [write('a', '1')] }, { steps: [write('b', '2')] }, { steps: [failing] }];
  const id = await submit({ plan: { groups } });
  await worker.drive(id);
  expect((await api.client.getRun(id)).status).toBe('failed');
  return id;
}
const untilDue = (id: string) =>
  vi.waitFor(async () => expect((await readRun(api.engine.redis, id))?.restore).toBe('due'));

describe('a run', () => {
  test('has a priority, limits, and says what it has used up', async () => {
    const id = await submit({
      priority: 'high',
      limits: { max_steps: 7, wall_s: 90, max_tokens: 1000, max_cost_usd: 0.5 },
    });
    expect(await api.client.getRun(id)).toMatchObject({
      ...{ priority: 'high', open_tasks: 0, messages: 0, parent: null },
      usage: { steps: 0, active_ms: 0, input_tokens: 0, output_tokens: 0, cost_usd: 0 },
      request: { limits: { max_steps: 7, wall_s: 90, max_tokens: 1000, max_cost_usd: 0.5 } },
    });
    await worker.drive(id);
    const { usage } = await api.client.getRun(id);
    expect(usage.steps).toBe(1);
    expect(usage.active_ms).toBeGreaterThan(0);
    expect(usage.active_ms).toBeLessThan(60_000);
  });

  test('that is forked has its priority, or another', async () => {
    const id = await submit({ priority: 'low' });
    await worker.drive(id);
    expect((await api.client.forkRun(id, { from_step: 0 })).run.priority).toBe('low');
    expect((await api.client.forkRun(id, { from_step: 0, priority: 'high' })).run.priority).toBe('high');
  });

  test.each([
    [{ priority: 'urgent' }, '/priority'],
    [{ limits: { max_steps: 0 } }, '/limits/max_steps'],
    [{ limits: { max_cost_usd: -1 } }, '/limits/max_cost_usd'],
  ])('with %j is refused', async (body, pointer) => {
    const before = await contentOf(api.engine);
    const problem = await problemOf(await api.post('/v1/runs', { plan: { groups: [{ steps: [failing] }] }, ...body }));
    expect(problem).toMatchObject({ status: 422, code: 'invalid_request', errors: [{ pointer }] });
    expect(await contentOf(api.engine)).toEqual(before);
  });

  test('that has reached a limit pauses, and resume grants as much again', async () => {
    const groups = [{ steps: [write('a', '1')] }, { steps: [write('b', '2')] }];
    const id = await submit({ plan: { groups }, limits: { max_steps: 1 } });
    await worker.drive(id);
    expect(await api.client.getRun(id)).toMatchObject({
      status: 'paused',
      reason: { code: 'max_steps' },
      usage: { steps: 1 },
    });
    await api.client.resumeRun(id);
    await worker.drive(id);
    expect(await api.client.getRun(id)).toMatchObject({ status: 'succeeded', usage: { steps: 2 } });
  });
});

describe('a run whose tools have changed', () => {
  /** Begun by a process that had another `write_file`, and then paused. */
  async function begun(): Promise<string> {
    const catalog = { ...api.engine.catalog, versions: () => ({ ...versions(), write_file: 'another' }) };
    const spec = {
      ...{
        toolset: 'holdpoint',
        settings: {},
        source: { type: 'empty' as const },
        validators: [],
        labels: {},
        network: { allow: [] },
        models: [],
      },
      goal: {
        planner: 'scripted' as const,
        plan: { groups: [{ on_error: 'stop' as const, steps: [write('a', '1')] }] },
      },
      ...{ policy: policyOf, limits: limitsOf, priority: 'normal' as const },
      publish: { include_ignored: false },
      ...{ protected: [], modes: { read_only: false, dry_run: false, deterministic: false } },
    };
    const { runId } = await submitRun({ ...api.engine, catalog }, { spec, by: 'a test' });
    await api.client.pauseRun(runId);
    return runId;
  }
  const versions = () => api.engine.catalog.versions('holdpoint');
  let policyOf: Awaited<ReturnType<TestApi['client']['getRun']>>['request']['policy'];
  let limitsOf: Awaited<ReturnType<TestApi['client']['getRun']>>['request']['limits'];
  beforeAll(async () => {
    const { run } = await api.client.createRun({ plan: { groups: [{ steps: [write('a', '1')] }] } });
    ({ policy: policyOf, limits: limitsOf } = (await api.client.getRun(run.id)).request);
  });

  test('is resumed only when that is accepted', async () => {
    const id = await begun();
    const before = await contentOf(api.engine);
    for (const body of ['', {}, { accept_new_version: false }]) {
      const problem = await problemOf(await api.post(`/v1/runs/${id}/resume`, body));
      expect(problem).toMatchObject({
        status: 409,
        code: 'tools_changed',
        detail: expect.stringContaining('write_file'),
      });
    }
    expect(await contentOf(api.engine)).toEqual(before);
    expect((await api.client.resumeRun(id, { accept_new_version: true })).status).toBe('queued');
    expect((await eventsOf(id)).at(-1)).toMatchObject({ type: 'run.resumed', data: { tools: versions() } });
    // Now these are its tools.
    await api.client.pauseRun(id);
    expect((await api.client.resumeRun(id)).status).toBe('queued');
  });

  test('nor does it take what is no boolean', async () => {
    const id = await begun();
    const problem = await problemOf(await api.post(`/v1/runs/${id}/resume`, { accept_new_version: 'yes' }));
    expect(problem).toMatchObject({ status: 422, errors: [{ pointer: '/accept_new_version' }] });
  });
});

describe('to retry', () => {
  test('makes the step that failed again, with the files as they were before it', async () => {
    const id = await failed();
    const [, , last] = await stepsOf(id);
    const answer = api.client.retryRun(id);
    await untilDue(id);
    await worker.tend(id);
    expect(await answer).toMatchObject({
      ...{ undone: [last?.id], restored: true },
      run: { status: 'running', ended_at: null },
    });
    await worker.drive(id);
    expect((await api.client.getRun(id)).status).toBe('failed');
    expect((await stepsOf(id)).map(({ number, status }) => [number, status])).toEqual([
      ...[1, 2].map((number) => [number, 'succeeded']),
      [null, 'undone'],
      [3, 'failed'],
    ]);
  });

  test('from an earlier step takes what came after it back', async () => {
    const id = await failed();
    const [, second, third] = await stepsOf(id);
    const answer = api.client.retryRun(id, { from_step: 2 });
    await untilDue(id);
    await worker.tend(id);
    expect(await answer).toMatchObject({ undone: [second?.id, third?.id], restored: true });
    expect(await pathsOf(id)).toEqual(['a']);
    await worker.drive(id);
    expect(await pathsOf(id)).toEqual(['a', 'b']);
  });

  test('of a paused run makes it continue', async () => {
    const groups = [{ steps: [write('a', '1')] }, { steps: [write('b', '2')] }];
    const id = await submit({ plan: { groups } });
    await worker.plan(id);
    await worker.execute(id);
    await api.client.pauseRun(id);
    const [first, second] = await stepsOf(id);
    const answer = api.client.retryRun(id, { from_step: first?.id ?? '' });
    await untilDue(id);
    await worker.tend(id);
    expect(await answer).toMatchObject({ undone: [first?.id, second?.id], run: { status: 'running' } });
    await worker.drive(id);
    expect([(await api.client.getRun(id)).status, await pathsOf(id)]).toEqual(['succeeded', ['a', 'b']]);
  });

  const cases: [string, () => Promise<string>, object, number, string, string?][] = [
    ['from step 0', failed, { from_step: 0 }, 422, 'invalid_request', '/from_step'],
    ['from a step there is not', failed, { from_step: 9 }, 404, 'step_not_found', '/from_step'],
    ['from an unknown step', failed, { from_step: 'step_x' }, 404, 'step_not_found', '/from_step'],
    ['a run that is active', () => submit(), {}, 409, 'run_not_retryable'],
    [
      'what succeeded',
      () => submit().then(async (id) => worker.drive(id).then(() => id)),
      {},
      409,
      'run_not_retryable',
    ],
    ['an unknown run', async () => 'run_x', {}, 404, 'run_not_found'],
  ];
  test.each(cases)('%s is refused, and changes nothing', async (_name, prepare, body, status, code, pointer) => {
    const id = await prepare();
    const before = await contentOf(api.engine);
    const problem = await problemOf(await api.post(`/v1/runs/${id}/retry`, body));
    expect(problem).toMatchObject({ status, code });
    expect(problem.errors?.map((error) => error.pointer)).toEqual(pointer === undefined ? undefined : [pointer]);
    expect(await contentOf(api.engine)).toEqual(before);
  });
});

describe('a message', () => {
  test('is kept, counted, and recorded once for one key', async () => {
    const id = await submit();
    const say = (text: string, key: string) =>
      api.post(`/v1/runs/${id}/messages`, { text }, { 'idempotency-key': key });
    const answers = [await say('faster', 'k1'), await say('faster', 'k1'), await say('slower', 'k2')];
    expect(answers.map(({ status }) => status)).toEqual([201, 200, 201]);
    const [first, again, other] = (await Promise.all(answers.map((one) => one.json()))) as { message_id: string }[];
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
    expect(await problemOf(await say('otherwise', 'k1'))).toMatchObject({
      status: 422,
      code: 'idempotency_key_reused',
    });
    expect((await api.client.getRun(id)).messages).toBe(2);
    const said = (await eventsOf(id)).flatMap((event) => (event.type === 'message.received' ? [event.data] : []));
    expect(said).toEqual([
      { message_id: first?.message_id, text: 'faster', by: 'admin' },
      { message_id: other?.message_id, text: 'slower', by: 'admin' },
    ]);
    // Without a key each is one of its own.
    await api.client.sendMessage(id, 'faster');
    expect((await api.client.getRun(id)).messages).toBe(3);
  });

  test.each([
    ['without text', {}],
    ['that is empty', { text: '' }],
    ['that is blank', { text: ' \n' }],
    ['that is too long', { text: 'x'.repeat(100_001) }],
  ])('%s is refused', async (_name, body) => {
    const id = await submit();
    const before = await contentOf(api.engine);
    const problem = await problemOf(await api.post(`/v1/runs/${id}/messages`, body));
    expect(problem).toMatchObject({ status: 422, errors: [{ pointer: '/text' }] });
    expect(await contentOf(api.engine)).toEqual(before);
  });

  test('to a run that is over or unknown is refused', async () => {
    const id = await failed();
    await expect(api.client.sendMessage(id, 'x')).rejects.toMatchObject({ status: 409, code: 'run_not_active' });
    await expect(api.client.sendMessage('run_x', 'x')).rejects.toMatchObject({ status: 404, code: 'run_not_found' });
  });
});

test('files are really back after a retry', async () => {
  const id = await submit({ plan: { groups: [{ steps: [write('a', '1')] }, { steps: [failing] }] } });
  await worker.drive(id);
  const answer = api.client.retryRun(id, { from_step: 1 });
  await untilDue(id);
  await worker.tend(id);
  await answer;
  const { path } = await worker.workspaces.locate({
    runId: id,
    epoch: (await readRun(api.engine.redis, id))?.lease ?? 0,
  });
  await expect(readFile(join(path, 'a'))).rejects.toMatchObject({ code: 'ENOENT' });
});
