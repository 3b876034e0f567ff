import { mostSummaryBytes, stepSummarySchema } from '@holdpoint/contract/wire';
import type { NumberedStep } from '@holdpoint/engine';
import { listSteps, readLog } from '@holdpoint/engine/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { problemOf, startTestApi, type TestApi } from '../../testing/test-api.ts';
import { type TestWorker, testWorker } from '../../testing/test-worker.ts';
import { toSummary } from './read-steps.ts';

let api: TestApi;
let worker: TestWorker;
let runId: string;
const write = (path: string) => ({ tool: 'write_file', args: { path, content: 'a\n' } });
const gone = { tool: 'read_file', name: 'looks', args: { path: 'gone' } };
beforeAll(async () => {
  api = await startTestApi();
  worker = testWorker(api.engine, api.dataDir);
  const groups = [
    { steps: [write('a'), write('b')] },
    { on_error: 'continue' as const, steps: [gone] },
    { steps: [write('c')] },
    { steps: [write('d'), write('e')] },
  ];
  const { run } = await api.client.createRun({ plan: { groups } });
  runId = run.id;
  await worker.drive(runId);
});
afterAll(() => api.stop());

const numbers = async (query: Parameters<typeof api.client.listSteps>[1]) =>
  (await api.client.listSteps(runId, query)).data.map(({ number }) => number);

describe('a list of steps', () => {
  test('begins at a number or an id, and goes in both directions', async () => {
    expect(await numbers({})).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await numbers({ order: 'desc' })).toEqual([6, 5, 4, 3, 2, 1]);
    expect(await numbers({ from: 5 })).toEqual([5, 6]);
    expect(await numbers({ from: 5, order: 'desc', limit: 2 })).toEqual([5, 4]);
    const { data } = await api.client.listSteps(runId);
    expect(await numbers({ from: data[2]?.id })).toEqual([3, 4, 5, 6]);
    const first = await api.client.listSteps(runId, { order: 'desc', limit: 4 });
    expect(await numbers({ order: 'desc', cursor: first.next_cursor ?? '' })).toEqual([2, 1]);
  });

  test('has the steps of one turn, with one of several states, of one of several tools', async () => {
    expect(await numbers({ turn: 4 })).toEqual([5, 6]);
    expect(await numbers({ turn: 9 })).toEqual([]);
    expect(await numbers({ status: ['failed', 'running'] })).toEqual([3]);
    expect(await numbers({ tool: ['read_file', 'bash'] })).toEqual([3]);
    expect(await numbers({ tool: ['write_file'], limit: 2, order: 'desc' })).toEqual([6, 5]);
    expect(await numbers({ tool: ['write_file'], status: ['failed'] })).toEqual([]);
    expect(await numbers({ turn: 4, order: 'desc' })).toEqual([6, 5]);
  });

  test('a run that no turn was planned for has none', async () => {
    const { run } = await api.client.createRun({ plan: { groups: [{ steps: [write('a')] }] } });
    for (const query of [{}, { order: 'desc' as const }, { status: ['failed' as const] }]) {
      expect(await api.client.listSteps(run.id, query)).toEqual({ data: [], next_cursor: null, has_more: false });
    }
  });

  test('a result of more than 2 KiB is a blob, and readers see it whole', async () => {
    const content = 'x'.repeat(3000);
    const call = { tool: 'write_file', args: { path: 'long', content } };
    const { run } = await api.client.createRun({ plan: { groups: [{ steps: [call] }] } });
    await worker.drive(run.id);
    const { steps } = await listSteps(api.engine, run.id);
    const value = steps[0]?.outcome?.value;
    expect(value).toEqual({ sha256: expect.any(String), bytes: expect.any(Number), preview: expect.any(String) });
    const logged = await readLog(api.engine.redis, run.id);
    expect(logged.find(({ type }) => type === 'step.succeeded')?.data).toMatchObject({ value });
    const { data } = await api.client.listSteps(run.id);
    expect(data[0]?.result).toMatchObject({ json: { content } });
    const { data: events } = await api.client.listEvents(run.id);
    expect(events.find(({ type }) => type === 'step.succeeded')?.data).toMatchObject({ value: { json: { content } } });
  });

  test.each([
    ['from=99', 404, 'step_not_found', 'from'],
    ['from=0', 422, 'invalid_request', 'from'],
    ['from=step_x', 422, 'invalid_request', 'from'],
    ['turn=4&from=1', 404, 'step_not_found', 'from'],
    ['order=up', 422, 'invalid_request', 'order'],
    ['view=short', 422, 'invalid_request', 'view'],
    ['status=done', 422, 'invalid_request', 'status.0'],
    ['turn=x', 422, 'invalid_request', 'turn'],
  ])('refuses %s and names the place', async (query, status, code, pointer) => {
    const response = await api.send(`/v1/runs/${runId}/steps?${query}`);
    expect(await problemOf(response)).toMatchObject({ status, code, errors: [{ pointer }] });
  });
});

describe('a summary', () => {
  test('names the step, its tool, its state and its times', async () => {
    const { data, has_more } = await api.client.listStepSummaries(runId, { limit: 3 });
    expect(has_more).toBe(true);
    expect(data[0]).toEqual({
      id: expect.stringMatching(/^step_/),
      ...{ number: 1, turn: 1, tool: 'write_file', title: 'a', effect: 'workspace', status: 'succeeded', error: null },
      started_at: expect.any(String),
      settled_at: expect.any(String),
    });
    expect(data[2]).toMatchObject({ title: 'looks', status: 'failed', error: 'ETEST' });
    expect((await api.client.listStepSummaries(runId, { status: ['failed'] })).data).toHaveLength(1);
  });

  test('has at most 300 bytes, whatever the call is', () => {
    const texts = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 400 }),
      fc.string({ unit: 'grapheme', maxLength: 400 }),
    );
    const time = '2026-11-22T23:50:31.405Z';
    fc.assert(
      fc.property(texts, fc.option(texts), texts, texts, fc.boolean(), (tool, name, arg, code, isLarge) => {
        const json = { flag: true, text: arg };
        const args = isLarge ? { sha256: '', bytes: 1, preview: JSON.stringify(json).slice(0, 60) } : { json };
        const call = { turn: 1_000_000, index: 63, tool, name: name ?? undefined };
        const step = {
          ...{
            id: 'step_01a205ab-22dd-77a2-90ac-de533eadb986',
            status: 'indeterminate',
            effect: 'workspace',
            call,
            args,
          },
          ...{ outcome: { error: { code, message: '' } }, started_at: time, settled_at: time },
        };
        const summary = toSummary({ step, number: 1_000_000 } as unknown as NumberedStep);
        expect(Buffer.byteLength(JSON.stringify(summary))).toBeLessThanOrEqual(mostSummaryBytes);
        expect(stepSummarySchema.parse(JSON.parse(JSON.stringify(summary)))).toEqual(summary);
      }),
      { numRuns: 50 },
    );
  });
});
