import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from '@holdpoint/telemetry/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { approve, bash, finished, nextApproval, plan, useSystem } from '../harness/index.ts';

let receiver: OtlpReceiver;
beforeAll(async () => {
  receiver = await startOtlpReceiver();
});
afterAll(() => receiver[Symbol.asyncDispose]());

const system = useSystem({
  env: () => ({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_BSP_SCHEDULE_DELAY: '200' }),
});

const ofRun = (runId: string): ReceivedSpan[] =>
  receiver.spans.filter(({ attributes }) => attributes['holdpoint.run.id'] === runId);

/** Waits for the first span of a run's log, which ends last. */
async function traceOf(runId: string): Promise<ReceivedSpan[]> {
  const root = () => ofRun(runId).find(({ name }) => name.startsWith('invoke_'));
  await expect.poll(root, { timeout: 60_000 }).toBeDefined();
  return receiver.spans.filter(({ trace_id }) => trace_id === root()?.trace_id);
}

/** Holds for each trace: one root, and each span in a span that it has. */
function expectWhole(spans: readonly ReceivedSpan[]): void {
  const ids = new Set(spans.map(({ span_id }) => span_id));
  expect(ids.size).toBe(spans.length);
  expect(spans.filter(({ parent_id }) => parent_id === undefined)).toHaveLength(1);
  expect(spans.filter(({ parent_id }) => parent_id !== undefined && !ids.has(parent_id))).toEqual([]);
}

/** A tree of names, one line per span, in order of start. */
function shape(spans: readonly ReceivedSpan[], parent?: string, depth = 0): string[] {
  return spans
    .filter(({ parent_id }) => parent_id === parent)
    .sort((a, b) => a.start - b.start)
    .flatMap((span) => [`${'  '.repeat(depth)}${span.name}`, ...shape(spans, span.span_id, depth + 1)]);
}

test('a scripted run is one trace, with its wait for a person', async () => {
  const { run } = await system.client.createRun({
    plan: plan([bash('echo one > a.txt')], [{ tool: 'read_file', args: { path: 'a.txt' } }]),
    policy: { rules: [{ match: { tool: 'read_file' }, action: 'hold' }] },
  });
  const approval = await nextApproval(system.client, run.id);
  await approve(system.client, approval);
  await finished(system.client, run.id);
  const spans = await traceOf(run.id);
  console.log(shape(spans).join('\n'));
  expectWhole(spans);
});
