import { attribute, type TraceSpan } from '@holdpoint/contract';
import type { Trace } from '@holdpoint/contract/wire';
import { traceIdOf } from '@holdpoint/engine';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { problemOf, startTestApi, type TestApi } from '../../testing/test-api.ts';
import { type TestWorker, testWorker } from '../../testing/test-worker.ts';

let api: TestApi;
let worker: TestWorker;
beforeAll(async () => {
  api = await startTestApi();
  worker = testWorker(api.engine, api.dataDir);
});
afterAll(() => api.stop());

const write = { tool: 'write_file', args: { path: 'a.txt', content: 'what only the run may read' } };
const plan = { groups: [{ steps: [write] }, { steps: [write] }] };
const caller = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

const named = (spans: readonly TraceSpan[], kind: TraceSpan['kind']) => spans.filter((span) => span.kind === kind);

test('a run is one trace, made from its log, without what was written', async () => {
  const { run } = await api.client.createRun({ plan });
  await worker.drive(run.id);
  const trace = await api.client.readTrace(run.id);
  expect(trace).toMatchObject({ run_id: run.id, trace_id: traceIdOf(run.id), has_more: false, next_cursor: null });
  expect(named(trace.spans, 'step').map(({ name, status }) => [name, status])).toEqual([
    ['execute_tool write_file', 'ok'],
    ['execute_tool write_file', 'ok'],
  ]);
  expect(named(trace.spans, 'attempt')[0]?.attributes).toMatchObject({
    [attribute.worker]: 'test-worker',
    [attribute.isolationDriver]: 'none',
    [attribute.isolation('net')]: 'absent',
  });
  expect(trace.spans.map(({ start }) => start)).toEqual(trace.spans.map(({ start }) => start).toSorted());
  expect(JSON.stringify(trace)).not.toContain('only the run');
});

test('pages have each span once, and what has not ended on the last', async () => {
  const { run } = await api.client.createRun({ plan });
  await worker.plan(run.id);
  const whole = await api.client.readTrace(run.id);
  expect(whole.spans.filter(({ end }) => end === null).map(({ kind }) => kind)).toEqual(
    expect.arrayContaining(['run', 'segment', 'step', 'wait']),
  );
  const pages: Trace[] = [];
  for (let after = 0; ; ) {
    const page = await api.client.readTrace(run.id, { after, limit: 1 });
    pages.push(page);
    if (page.next_cursor === null) break;
    after = Number(page.next_cursor);
  }
  const ids = (spans: readonly TraceSpan[]) => spans.map(({ span_id }) => span_id).toSorted();
  expect(pages.length).toBeGreaterThan(2);
  expect(ids(pages.flatMap(({ spans }) => spans))).toEqual(ids(whole.spans));
});

test('the trace of a caller continues in its run, in forks as a link', async () => {
  const { run } = await api.client.createRun({ plan }, { traceparent: caller, tracestate: 'a=1' });
  await worker.drive(run.id);
  const { trace_id, spans } = await api.client.readTrace(run.id);
  expect(trace_id).toBe('0af7651916cd43dd8448eb211c80319c');
  expect(named(spans, 'run')[0]?.parent_id).toBe('b7ad6b7169203331');
  const fork = await api.client.forkRun(run.id, { from_step: 1 });
  const [root] = named((await api.client.readTrace(fork.run.id)).spans, 'run');
  expect(root?.parent_id).toBeNull();
  expect(root?.links).toMatchObject([
    { trace_id, span_id: named(spans, 'step')[0]?.span_id, attributes: { [attribute.linkedRunId]: run.id } },
  ]);
});

test('a traceparent that is not valid counts as none', async () => {
  const response = await api.post('/v1/runs', { plan }, { traceparent: 'ff-1-2-3', tracestate: 'a=1' });
  expect(response.status).toBe(201);
  const { id } = (await response.json()) as { id: string };
  expect(await api.client.readTrace(id)).toMatchObject({ trace_id: traceIdOf(id), spans: [{ parent_id: null }, {}] });
});

test('the trace of a run of another tenant, or of none, is not found', async () => {
  const { run } = await api.client.createRun({ plan });
  const { key } = await api.client.createKey({ name: 'eve', kind: 'service', tenant: 'other', scopes: ['runs:read'] });
  const unknown = 'run_00000000-0000-7000-8000-000000000000';
  const theirs = await api.send(`/v1/runs/${run.id}/trace`, { headers: { authorization: `Bearer ${key}` } });
  const none = await api.send(`/v1/runs/${unknown}/trace`);
  const [first, second] = [await problemOf(theirs), await problemOf(none)];
  expect(first).toMatchObject({ status: 404, code: 'run_not_found' });
  expect(second).toMatchObject({ status: 404, code: 'run_not_found' });
});

test('a page size that is no number, or too high, is refused', async () => {
  const { run } = await api.client.createRun({ plan });
  for (const query of ['limit=0', 'limit=10001', 'limit=x', 'after=-1', 'page=2']) {
    expect((await api.send(`/v1/runs/${run.id}/trace?${query}`)).status).toBe(422);
  }
});
