import { createHash } from 'node:crypto';
import type { EndedSpans, TraceSpan } from '@holdpoint/contract';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type TraceSettings, traceSettingsFrom } from '../settings/traces.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../testing/otlp-receiver.ts';
import { openTelemetryThread, type TelemetryThread } from '../thread/telemetry-thread.ts';
import { startTraces } from './start-traces.ts';
import type { Traces } from './traces.ts';

let receiver: OtlpReceiver;
let traces: Traces | undefined;
let thread: TelemetryThread | undefined;
beforeEach(async () => {
  receiver = await startOtlpReceiver();
});
afterEach(async () => {
  await traces?.stop();
  await thread?.stop();
  await receiver[Symbol.asyncDispose]();
  vi.unstubAllEnvs();
});

const dropped = { queue_full: 0, not_sent: 0 };
const lines: object[] = [];
const logger = {
  warn: (fields: object) => void lines.push(fields),
  debug: () => undefined,
};

async function start(env: Record<string, string> = {}): Promise<Traces> {
  lines.length = 0;
  Object.assign(dropped, { queue_full: 0, not_sent: 0 });
  const all = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_TIMEOUT: '2000', ...env };
  for (const [name, value] of Object.entries(all)) vi.stubEnv(name, value);
  const service = { name: 'holdpoint-worker', version: '1.2.3', instance: 'here-1' };
  const settings = traceSettingsFrom(all) as TraceSettings;
  await thread?.stop();
  thread = openTelemetryThread({ service, traces: settings });
  const started = await startTraces(
    {
      ...{ thread, service },
      logger,
      stopMs: 300,
      onDropped: (spans, reason) => {
        dropped[reason] += spans;
      },
    },
    settings,
  );
  traces = started;
  if (started === undefined) throw new Error('traces are off');
  // The time of an export does not begin before the thread runs.
  await started.take([], never);
  return started;
}

const runId = 'run_01890a5d-ac96-774b-bcce-b302099a8057';
const span = (number: number): TraceSpan => ({
  ...{ span_id: number.toString(16).padStart(16, '0'), parent_id: number === 1 ? null : '0000000000000001' },
  ...{ kind: 'step', name: `execute_tool ${number}`, status: number === 3 ? 'error' : 'ok' },
  message: number === 3 ? 'EFAILED' : undefined,
  ...{ start: '2026-01-02T03:04:05.006Z', end: '2026-01-02T03:04:07.005Z' },
  attributes: { 'holdpoint.step.index': number, 'holdpoint.run.id': runId, finish: ['stop'], done: true },
  events: [{ name: 'noted', time: '2026-01-02T03:04:06.000Z', attributes: { n: 1.5 } }],
  links: [{ trace_id: 'a'.repeat(32), span_id: 'b'.repeat(16), attributes: { why: 'fork' } }],
});
const batch = (count: number, traceId = 'c'.repeat(32)): EndedSpans[] => [
  { run_id: runId, trace_id: traceId, spans: Array.from({ length: count }, (_, at) => span(at + 1)) },
];
const submissionId = createHash('sha256').update(`${runId}/submission`).digest('hex').slice(0, 16);
const never = new AbortController().signal;

test.each(['http/protobuf', 'http/json'])('a span arrives as it is, by %s', async (protocol) => {
  const { take } = await start({ OTEL_EXPORTER_OTLP_PROTOCOL: protocol, OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip' });
  await take(batch(3), never);
  expect(receiver.spans).toHaveLength(3);
  expect(receiver.spans[2]).toEqual({
    trace_id: 'c'.repeat(32),
    span_id: '0000000000000003',
    parent_id: '0000000000000001',
    trace_state: undefined,
    ...{ name: 'execute_tool 3', kind: 1, status: 'error', message: 'EFAILED', scope: 'holdpoint' },
    ...{ start: Date.parse('2026-01-02T03:04:05.006Z'), end: Date.parse('2026-01-02T03:04:07.005Z') },
    attributes: { 'holdpoint.step.index': 3, 'holdpoint.run.id': runId, finish: ['stop'], done: true },
    events: [{ name: 'noted', time: Date.parse('2026-01-02T03:04:06.000Z'), attributes: { n: 1.5 } }],
    links: [{ trace_id: 'a'.repeat(32), span_id: 'b'.repeat(16), attributes: { why: 'fork' } }],
    resource: expect.objectContaining({
      ...{ 'service.name': 'holdpoint-worker', 'service.version': '1.2.3', 'service.instance.id': 'here-1' },
      'host.name': expect.any(String),
    }),
  });
  expect(receiver.spans[0]?.parent_id).toBe(submissionId);
  expect(Object.keys(receiver.spans[0]?.resource ?? {})).not.toContain('process.command_args');
});

test('the span of the submission goes out before all others, below the caller, and what is below the run is below it', async () => {
  const { take } = await start();
  const submitted = { time: '2026-01-02T03:04:05.006Z', toolset: 'holdpoint' };
  const caller = { traceparent: `00-${'c'.repeat(32)}-${'d'.repeat(16)}-01` };
  const [run] = batch(3);
  await take([{ ...caller, ...(run as EndedSpans), submitted, spans: [] }], never);
  expect(receiver.spans).toMatchObject([
    { name: 'submit holdpoint', span_id: submissionId, parent_id: 'd'.repeat(16), start: Date.parse(submitted.time) },
  ]);
  await take([{ ...caller, ...(run as EndedSpans), run_span_id: '0000000000000001' }], never);
  expect(receiver.spans.slice(1).map(({ parent_id }) => parent_id)).toEqual(Array(3).fill(submissionId));
  await take([{ ...(run as EndedSpans), run_span_id: '0000000000000009' }], never);
  expect(receiver.spans.slice(4).map(({ parent_id }) => parent_id)).toEqual([
    submissionId,
    '0000000000000001',
    '0000000000000001',
  ]);
});

test('a batch of more spans becomes several requests', async () => {
  const { take } = await start();
  await take(batch(1300), never);
  expect(receiver.spans).toHaveLength(1300);
  expect(receiver.requests).toBe(3);
});

test("a live span keeps to OpenTelemetry's limits", async () => {
  const { live, stop } = await start({
    ...{ OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT: '2', OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT: '3' },
  });
  const place = { run_id: runId, trace_id: 'c'.repeat(32), span_id: 'd'.repeat(16) };
  const attributes = { first: 'abcdef', second: 'ghi' };
  live.within(
    () => place,
    () => live.add({ name: 'limited', startTime: 1, endTime: 2, attributes }),
  );
  await stop();
  await expect.poll(() => receiver.spans.length, { timeout: 20_000 }).toBe(1);
  expect(receiver.spans[0]?.attributes).toEqual({ 'holdpoint.run.id': 'run', first: 'abc' });
});

const troubles = [
  { how: 'hang' as const },
  { how: 'drip' as const },
  { how: { status: 503, retryAfter: 60 } },
  { how: { status: 429, retryAfter: 60 } },
  { how: { status: 400 } },
];
test.each(troubles)('with a receiver that answers $how the spans are given up and counted', async ({ how }) => {
  const { take, stop } = await start();
  receiver.behave(how);
  await take(batch(10), never);
  expect(dropped).toEqual({ queue_full: 0, not_sent: 10 });
  expect(lines).toContainEqual(expect.objectContaining({ event: 'spans_dropped', reason: 'not_sent', spans: 10 }));
  receiver.behave('ok');
  await take(batch(2), never);
  expect(receiver.spans).toHaveLength(2);
  await stop();
});

test('an answer of garbage means the spans have arrived', async () => {
  const { take } = await start();
  receiver.behave('garbage');
  await take(batch(10), never);
  expect(dropped.not_sent).toBe(0);
});

test('without a receiver the spans are given up', async () => {
  const { take } = await start();
  await receiver[Symbol.asyncDispose]();
  await take(batch(10), never);
  expect(dropped.not_sent).toBe(10);
  receiver = await startOtlpReceiver();
});

test('it gives back the spans that there is no time for', async () => {
  const { take } = await start({ OTEL_EXPORTER_OTLP_TIMEOUT: '60000' });
  receiver.behave('hang');
  const ending = new AbortController();
  const taken = take(batch(10), ending.signal);
  ending.abort(new Error('no time'));
  await expect(taken).rejects.toThrow('no time');
  expect(dropped.not_sent).toBe(0);
});

test('a sampled trace is whole, and others have no span', async () => {
  const { take } = await start({ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.5' });
  const ids = Array.from({ length: 40 }, (_, at) => (at * 0x6a09e667 + 1).toString(16).padStart(32, '0'));
  for (const id of ids) {
    await take(batch(1, id), never);
    await take(batch(2, id), never);
  }
  const counts = ids.map((id) => receiver.spans.filter(({ trace_id }) => trace_id === id).length);
  expect(new Set(counts)).toEqual(new Set([0, 3]));
  const whole = counts.filter((count) => count === 3).length;
  expect(whole).toBeGreaterThan(5);
  expect(whole).toBeLessThan(35);
});

test('the caller of a run decides whether its trace is sampled', async () => {
  const { take } = await start({ OTEL_TRACES_SAMPLER: 'parentbased_always_on' });
  const of = (flags: string, traceId: string): EndedSpans[] =>
    batch(1, traceId).map((run) => ({
      ...run,
      traceparent: `00-${traceId}-${'d'.repeat(16)}-${flags}`,
      tracestate: 'a=b',
    }));
  await take([...of('00', 'e'.repeat(32)), ...of('01', 'f'.repeat(32))], never);
  expect(receiver.spans.map(({ trace_id, trace_state }) => [trace_id, trace_state])).toEqual([['f'.repeat(32), 'a=b']]);
});
