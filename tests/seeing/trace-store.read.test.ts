import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startSystem, until } from '../harness/index.ts';
import { demo } from './do-everything.ts';
import { bringTraceStore, startTraceStore } from './trace-store.ts';

const missing = bringTraceStore();
if (missing !== undefined) process.stderr.write(`skipped: ${missing}\n`);

test.skipIf(missing !== undefined)('a trace store of another program has a demo run as one whole trace', async () => {
  await using started = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'hp-trace-store-'));
  started.defer(() => rm(directory, { recursive: true, force: true }));
  const store = await startTraceStore(directory);
  started.defer(() => store.stop());
  const system = await startSystem({
    ...{ OTEL_EXPORTER_OTLP_ENDPOINT: store.endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' },
    ...{ OTEL_METRICS_EXPORTER: 'none', OTEL_BSP_SCHEDULE_DELAY: '100' },
  });
  started.use(system);
  const worker = await system.startWorker();
  const runId = await demo(system, 'pagelist');
  const { trace_id, spans } = await system.client.readTrace(runId);

  const live = ['sandbox setup', 'sandbox command', 'workspace snapshot', 'publish plan', 'publish write'];
  const wanted = [...spans.map(({ name }) => name), ...live];
  await until('the store has every kind of span', async () => {
    const names = (await store.spansOf(trace_id)).map(({ displayName }) => displayName);
    return wanted.every((name) => names.includes(name));
  });
  // It sends the rest of its spans.
  await worker.signal('SIGTERM');
  const stored = new Map((await store.spansOf(trace_id)).map((span) => [span.spanId, span]));

  for (const { span_id, parent_id, name, start, end } of spans) {
    expect(stored.get(span_id)).toMatchObject({
      ...{ displayName: name, startTime: Date.parse(start), endTime: Date.parse(String(end)) },
      ...(parent_id !== null && { parentSpanId: parent_id }),
    });
  }
  expect(stored.size).toBeGreaterThanOrEqual(wanted.length);
  const all = [...stored.values()];
  expect(all.filter(({ parentSpanId }) => parentSpanId && !stored.has(parentSpanId))).toEqual([]);
  const roots = spans.filter(({ parent_id }) => parent_id === null).map(({ span_id }) => span_id);
  expect(
    all
      .filter(({ parentSpanId }) => !parentSpanId)
      .map(({ spanId }) => spanId)
      .sort(),
  ).toEqual(roots.sort());
});
