import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from '@holdpoint/telemetry/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { approve, bash, finished, nextApproval, plan, published, until, useSystem } from '../harness/index.ts';

let receiver: OtlpReceiver;
const mock = new LLMock({ port: 0, host: '127.0.0.1' });
beforeAll(async () => {
  receiver = await startOtlpReceiver();
  await mock.start();
});
afterAll(async () => {
  await receiver[Symbol.asyncDispose]();
  await mock.stop();
});

const system = useSystem({
  workers: 0,
  env: () => ({
    ...{ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_BSP_SCHEDULE_DELAY: '100', OTEL_METRICS_EXPORTER: 'none' },
    HOLDPOINT_MODEL: 'anthropic/claude-test',
    ...{ ANTHROPIC_API_KEY: 'test-key', ANTHROPIC_BASE_URL: mock.url },
  }),
});
const { client } = system;
let worker: Awaited<ReturnType<typeof system.startWorker>>;
beforeAll(async () => {
  worker = await system.startWorker();
});

const within = { timeout: 60_000 };
const ofRun = (runId: string): ReceivedSpan[] =>
  receiver.spans.filter(({ attributes, scope }) => attributes['holdpoint.run.id'] === runId && scope === 'holdpoint');

/** Waits until the spans of a run are whole: its own, and those around them. */
async function traceOf(runId: string, mayHave: string[] = []): Promise<ReceivedSpan[]> {
  const names = () => ofRun(runId).map(({ name }) => name);
  await expect.poll(names, within).toEqual(expect.arrayContaining([expect.stringMatching(/^invoke_/), ...mayHave]));
  const spans = ofRun(runId).filter(({ kind }) => kind !== 2);
  const ids = new Set(spans.map(({ span_id }) => span_id));
  expect(ids.size).toBe(spans.length);
  expect(new Set(spans.map(({ trace_id }) => trace_id)).size).toBe(1);
  expect(spans.filter(({ parent_id }) => parent_id !== undefined && !ids.has(parent_id))).toEqual([]);
  for (const { start, end } of spans) expect(end).toBeGreaterThanOrEqual(start);
  return spans;
}

/** A tree of names, one line per span, in order of start. Waits for a queue are as the load of the machine makes them. */
const shape = (spans: readonly ReceivedSpan[], parent?: string, depth = 0): string[] =>
  spans
    .filter(({ parent_id, name }) => parent_id === parent && name !== 'wait queue')
    .sort((a, b) => a.start - b.start || rank(a) - rank(b))
    .flatMap((span) => [`${'  '.repeat(depth)}${span.name}`, ...shape(spans, span.span_id, depth + 1)]);
const rank = ({ attributes }: ReceivedSpan): number => Number(attributes['holdpoint.segment.number'] ?? 100);

test('a scripted run is one trace: its states, its wait for a person, its commands', async () => {
  const { run } = await client.createRun({
    plan: plan([bash('echo one > a.txt')], [{ tool: 'read_file', args: { path: 'a.txt' } }]),
    policy: { rules: [{ match: { tool: 'read_file' }, action: 'hold' }] },
  });
  await approve(client, await nextApproval(client, run.id));
  await finished(client, run.id);
  const spans = await traceOf(run.id, ['workspace materialise', 'sandbox command', 'workspace snapshot']);
  expect(shape(spans)).toEqual([
    'submit holdpoint',
    '  segment queued',
    '    workspace materialise',
    '  invoke_workflow holdpoint',
    '  segment running',
    '    turn',
    '      plan',
    '      execute_tool bash',
    '        attempt',
    '          sandbox setup',
    '          sandbox command',
    '        workspace snapshot',
    '    turn',
    '      plan',
    '  execute_tool read_file',
    '    wait approval',
    '    attempt',
    '  segment waiting',
    '  segment running',
  ]);
  const whole = spans.find(({ name }) => name.startsWith('invoke_'));
  const segments = spans.filter(({ name }) => name.startsWith('segment'));
  const sum = segments.reduce((total, { start, end }) => total + end - start, 0);
  expect(sum).toBe((whole?.end ?? 0) - (whole?.start ?? 0));
  expect(spans.filter(({ resource }) => resource['service.name'] !== 'holdpoint-worker')).toEqual([]);
});

test('a run with a caller is below the request that submitted it, in the trace of the caller', async () => {
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
  const { run } = await client.createRun({ plan: plan([bash('true')]) }, { traceparent, tracestate: 'vendor=1' });
  await finished(client, run.id);
  const request = () => ofRun(run.id).find(({ kind }) => kind === 2);
  await expect.poll(request, within).toMatchObject({
    ...{ name: 'POST /v1/runs', trace_id: traceId, parent_id: '00f067aa0ba902b7', trace_state: 'vendor=1' },
    resource: { 'service.name': 'holdpoint-api' },
  });
  const named = (start: string) => ofRun(run.id).find(({ name }) => name.startsWith(start));
  await expect.poll(() => named('submit'), within).toMatchObject({ trace_id: traceId, parent_id: request()?.span_id });
  await expect
    .poll(() => named('invoke_'), within)
    .toMatchObject({ trace_id: traceId, parent_id: named('submit')?.span_id });
});

test('a run without a caller is linked from the request that submitted it', async () => {
  const { run } = await client.createRun({ plan: plan([bash('true')]) });
  await finished(client, run.id);
  const root = (await traceOf(run.id)).find(({ name }) => name.startsWith('invoke_'));
  const request = () => ofRun(run.id).find(({ kind }) => kind === 2);
  await expect
    .poll(() => request()?.links, within)
    .toMatchObject([{ trace_id: root?.trace_id, span_id: root?.span_id }]);
});

test('a run of a model has its requests to the provider, and parallel calls', async () => {
  const call = (id: string, path: string) => ({ id, name: 'read_file', arguments: JSON.stringify({ path }) });
  const toolCalls = [call('call_a', 'a.txt'), call('call_b', 'b.txt')];
  mock.on({ userMessage: 'read both', hasToolResult: false }, { content: 'Reading.', toolCalls });
  mock.on({ userMessage: 'read both', hasToolResult: true }, { content: 'Neither is there.' });
  const { run } = await client.createRun({ prompt: 'Please read both.' });
  await finished(client, run.id);
  const requests = () => ofRun(run.id).filter(({ name }) => name === 'model request');
  await expect.poll(() => requests().length, within).toBe(2);
  const spans = await traceOf(run.id);
  const names = spans.map(({ name }) => name);
  expect(names.filter((name) => name === 'execute_tool read_file')).toHaveLength(2);
  expect(names.filter((name) => name === 'chat claude-test' || name === 'chat anthropic/claude-test')).toHaveLength(2);
  const asked = spans.filter(({ name }) => name === 'model request');
  expect(asked.map(({ kind, attributes }) => [kind, attributes['holdpoint.turn.number']])).toEqual([
    [3, 1],
    [3, 2],
  ]);
  expect(asked[0]?.attributes).toMatchObject({
    'gen_ai.provider.name': 'anthropic',
    'gen_ai.request.model': 'claude-test',
  });
  const turnOf = (span: ReceivedSpan) => spans.find(({ span_id }) => span_id === span.parent_id);
  const parts = spans.filter(({ name }) => /^(chat|execute_tool) /.test(name));
  expect(parts.map(turnOf).map((turn) => [turn?.name, turn?.kind])).toEqual(parts.map(() => ['turn', 1]));
  expect(parts.map((part) => turnOf(part)?.attributes['holdpoint.turn.number'])).toEqual(
    parts.map(({ attributes }) => attributes['holdpoint.turn.number']),
  );
  // Each request counts once: as a client's span from the log, with its tokens.
  const chats = spans.filter(({ attributes }) => attributes['gen_ai.operation.name'] === 'chat');
  expect(chats.map(({ kind, attributes }) => [kind, attributes['holdpoint.turn.number']])).toEqual([
    [3, 1],
    [3, 2],
  ]);
  const counted = spans.filter(
    ({ attributes }) =>
      'gen_ai.usage.output_tokens' in attributes && attributes['gen_ai.operation.name'] !== 'invoke_agent',
  );
  expect(counted).toHaveLength(2);
});

test('a sub-agent has a trace of its own, and both are linked', async () => {
  const task = { tool: 'task', args: { description: 'inner', plan: [{ steps: [bash('true')] }] } };
  const { run } = await client.createRun({ plan: { groups: [{ steps: [task] }] } });
  await finished(client, run.id);
  const spans = await traceOf(run.id);
  const toChild = spans
    .flatMap(({ links }) => links)
    .find(({ attributes }) => attributes['holdpoint.link.type'] === 'sub_agent');
  const child = receiver.spans.find(({ span_id }) => span_id === toChild?.span_id);
  expect(child?.name).toBe('invoke_workflow holdpoint');
  const toParent = child?.links.find(({ attributes }) => attributes['holdpoint.link.type'] === 'works_for');
  expect(spans.map(({ span_id }) => span_id)).toContain(toParent?.span_id);
  await traceOf(String(child?.attributes['holdpoint.run.id']));
});

test('a publish has its phases below it', async () => {
  const source = { type: 'directory' as const, path: await system.directoryWith({ 'a.txt': 'one\n' }) };
  const { run } = await client.createRun({ workspace: { source }, plan: plan([bash('echo two > a.txt')]) });
  await finished(client, run.id);
  await client.publish(run.id, {});
  await published(client, run.id);
  const spans = await traceOf(run.id, ['publish', 'publish write']);
  const publish = spans.find(({ name }) => name === 'publish');
  expect(spans.filter(({ parent_id }) => parent_id === publish?.span_id).map(({ name }) => name)).toEqual(
    expect.arrayContaining(['publish plan', 'publish write']),
  );
});

test('when the worker that exports is killed in a step, the trace is whole, and the lost attempt is in it', async () => {
  const hold = bash('touch started; until [ -e go ]; do sleep 0.02; done; echo done');
  const { run } = await client.createRun({ plan: plan([bash('true')], [hold]) });
  await until('the step runs', () => existsSync(join(system.tree(run.id), 'started')));
  await worker.signal('SIGKILL');
  worker = await system.startWorker();
  await until('attempt 2 runs', async () => (await client.listSteps(run.id)).data[1]?.attempts === 2);
  await client.cancelRun(run.id);
  await finished(client, run.id);
  const spans = await traceOf(run.id);
  const attempts = spans.filter(({ name }) => name === 'attempt').map(({ attributes }) => attributes);
  expect(attempts.map((attributes) => attributes['holdpoint.attempt.outcome'])).toEqual(
    expect.arrayContaining(['succeeded', 'lost']),
  );
  expect(attempts).toHaveLength(3);
});

test('by segment a run has a trace for each of its segments, linked to the run and to the one before', async () => {
  await worker.signal('SIGTERM');
  worker = await system.startWorker({ HOLDPOINT_TRACE: 'segment' });
  const { run } = await client.createRun({
    plan: plan([bash('true')], [{ tool: 'read_file', args: { path: 'a.txt' } }]),
    policy: { rules: [{ match: { tool: 'read_file' }, action: 'hold' }] },
  });
  await approve(client, await nextApproval(client, run.id));
  await finished(client, run.id);
  await expect.poll(() => ofRun(run.id).some(({ name }) => name.startsWith('invoke_')), within).toBe(true);
  const spans = ofRun(run.id).filter(({ kind }) => kind === 1);
  const traces = Map.groupBy(spans, ({ trace_id }) => trace_id);
  const shapes = [...traces.values()].map((trace) => shape(trace));
  expect(shapes.toSorted((a, b) => b.length - a.length)).toEqual([
    [
      'segment running',
      '  turn',
      '    plan',
      '    execute_tool bash',
      '      attempt',
      '  turn',
      '    plan',
      '  execute_tool read_file',
      '    wait approval',
      '    attempt',
    ],
    ['segment queued', '  workspace materialise'],
    expect.toSatisfy((trace: string[]) => trace.length === 1),
    expect.toSatisfy((trace: string[]) => trace.length === 1),
    expect.toSatisfy((trace: string[]) => trace.length === 1),
  ]);
  for (const trace of traces.values()) expect(trace.filter(({ parent_id }) => parent_id === undefined)).toHaveLength(1);
  const segments = spans.filter(({ name }) => name.startsWith('segment')).sort((a, b) => rank(a) - rank(b));
  const root = spans.find(({ name }) => name.startsWith('invoke_'));
  expect(segments.map(({ links }) => links.map(({ trace_id, span_id }) => `${trace_id}/${span_id}`))).toEqual(
    segments.map((_, at) =>
      [root, segments[at - 1]].filter((to) => to !== undefined).map((to) => `${to.trace_id}/${to.span_id}`),
    ),
  );
});

test('on request, spans have the prompt, arguments and results, without secrets', async () => {
  const value = 'planted-in-a-prompt-81';
  await worker.signal('SIGTERM');
  worker = await system.startWorker({ HOLDPOINT_TRACE_CONTENT: 'on', HOLDPOINT_SECRET_PLANTED: value });
  mock.on(
    { userMessage: /whisper/, hasToolResult: false },
    { toolCalls: [{ name: 'bash', arguments: '{"command":"echo loud"}' }] },
  );
  mock.on({ userMessage: /whisper/, hasToolResult: true }, { content: 'said' });
  const { run } = await client.createRun({ prompt: `whisper ${value}` });
  await finished(client, run.id);
  const spans = await traceOf(run.id);
  const contents = spans.flatMap(({ name, attributes }) =>
    Object.entries(attributes)
      .filter(([key]) => /^gen_ai\.(input|output)\.messages$|^gen_ai\.tool\.call\.(arguments|result)$/.test(key))
      .map(([key, text]) => [name.split(' ')[0], key.slice('gen_ai.'.length), text]),
  );
  const message = (role: string, content: string) => JSON.stringify([{ role, parts: [{ type: 'text', content }] }]);
  expect(contents).toEqual(
    expect.arrayContaining([
      ['invoke_agent', 'input.messages', message('user', 'whisper [secret PLANTED]')],
      ['execute_tool', 'tool.call.arguments', expect.stringMatching(/^\{"command":"echo loud"/)],
      ['execute_tool', 'tool.call.result', expect.stringContaining('"stdout":"loud')],
      ['chat', 'output.messages', message('assistant', 'said')],
    ]),
  );
  expect(JSON.stringify(spans)).not.toContain(value);
});

test.each(['hang', 'drip', { status: 503, retryAfter: 60 }] as const)(
  'a receiver that answers %j holds up neither a run nor the end of a worker',
  async (how) => {
    receiver.behave(how);
    const other = await system.startWorker({ OTEL_EXPORTER_OTLP_TIMEOUT: '1000' });
    await worker.signal('SIGTERM');
    const { run } = await client.createRun({ plan: plan([bash('true')], [bash('true')]) });
    expect(await finished(client, run.id)).toMatchObject({ status: 'succeeded' });
    await other.signal('SIGTERM');
    expect(other.isAlive()).toBe(false);
    receiver.behave('ok');
    worker = await system.startWorker();
    // Spans that no receiver got are given up: a later run is exported.
    const { run: later } = await client.createRun({ plan: plan([bash('true')]) });
    await finished(client, later.id);
    await traceOf(later.id);
  },
);
