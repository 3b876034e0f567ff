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
  const { run: parked } = await system.client.createRun({
    plan: { groups: [{ steps: [{ tool: 'bash', args: { command: 'true' } }] }] },
    policy: { rules: [{ match: { tool: 'bash' }, action: 'hold' }] },
  });
  const runId = await demo(system, 'pagelist');
  const { trace_id, spans } = await system.client.readTrace(runId);

  const live = ['sandbox setup', 'sandbox command', 'workspace snapshot', 'publish plan', 'publish write'];
  const wanted = [...spans.map(({ name }) => name), ...live];
  await until('the store has every kind of span', async () => {
    const names = (await store.spansOf(trace_id)).map(({ displayName }) => displayName);
    return wanted.every((name) => names.includes(name));
  });
  const parkedTrace = (await system.client.readTrace(parked.id)).trace_id;
  await until('a run that waits has a root, and nothing without a parent', async () => {
    const found = await store.spansOf(parkedTrace);
    const ids = new Set(found.map(({ spanId }) => spanId));
    const lost = found.filter(({ parentSpanId }) => parentSpanId && !ids.has(parentSpanId));
    return found.some(({ parentSpanId }) => !parentSpanId) && found.length > 2 && lost.length === 0;
  });
  // It sends the rest of its spans.
  await worker.signal('SIGTERM');
  const stored = new Map((await store.spansOf(trace_id)).map((span) => [span.spanId, span]));

  const runSpan = spans.find(({ kind }) => kind === 'run');
  const submitted = [...stored.values()].find(({ displayName }) => displayName === 'submit holdpoint');
  for (const { span_id, parent_id, name, start, end } of spans) {
    const isTop = parent_id === null || parent_id === runSpan?.span_id;
    expect(stored.get(span_id)).toMatchObject({
      ...{ displayName: name, startTime: Date.parse(start), endTime: Date.parse(String(end)) },
      parentSpanId: isTop ? submitted?.spanId : parent_id,
    });
  }
  expect(stored.size).toBeGreaterThanOrEqual(wanted.length);
  const all = [...stored.values()];
  expect(all.filter(({ parentSpanId }) => parentSpanId && !stored.has(parentSpanId))).toEqual([]);
  expect(all.filter(({ parentSpanId }) => !parentSpanId).map(({ spanId }) => spanId)).toEqual([submitted?.spanId]);
});
