import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { LogExport } from './logs/log-export.ts';
import { logExportFrom } from './logs/log-export-settings.ts';
import { startLogExport } from './logs/start-log-export.ts';
import type { Metrics } from './metrics/metrics.ts';
import { metricsSettingsFrom } from './metrics/metrics-setting.ts';
import { startMetrics } from './metrics/start-metrics.ts';
import { type OtlpReceiver, startOtlpReceiver } from './testing/otlp-receiver.ts';
import { openBoundedProcessor } from './traces/bounded-processor.ts';
import { readableSpan } from './traces/readable-span.ts';

let receiver: OtlpReceiver;
let opened: (LogExport | Metrics)[] = [];
beforeEach(async () => {
  receiver = await startOtlpReceiver();
});
afterEach(async () => {
  await Promise.all(opened.map((one) => one.stop()));
  opened = [];
  await receiver[Symbol.asyncDispose]();
  vi.unstubAllEnvs();
});

const service = { name: 'holdpoint-worker', version: '1' };
const within = { timeout: 20_000 };

function settingsFrom(env: Record<string, string>) {
  const all = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_TIMEOUT: '300', ...env };
  for (const [name, value] of Object.entries(all)) vi.stubEnv(name, value);
  return all;
}

async function startLogs(env: Record<string, string> = {}) {
  const settings = logExportFrom(settingsFrom({ OTEL_LOGS_EXPORTER: 'otlp', OTEL_BLRP_SCHEDULE_DELAY: '20', ...env }));
  const dropped = { queue_full: 0, not_sent: 0 };
  const onDropped = (lines: number, reason: 'queue_full' | 'not_sent'): void => {
    dropped[reason] += lines;
  };
  const deps = { service, spanOf: () => '', onDropped, stopMs: 300 };
  const exported = (await startLogExport(deps, settings)) as LogExport;
  opened.push(exported);
  const write = (count: number): void => {
    for (let at = 0; at < count; at++) exported.write(JSON.stringify({ level: 30, time: 1, msg: `line ${at}` }));
  };
  return { write, dropped, stop: exported.stop };
}

async function openMetrics(env: Record<string, string> = {}): Promise<Metrics> {
  const all = settingsFrom({
    ...{ HOLDPOINT_METRICS: 'on', OTEL_METRIC_EXPORT_INTERVAL: '300', OTEL_METRIC_EXPORT_TIMEOUT: '300', ...env },
  });
  const metrics = await startMetrics(service, metricsSettingsFrom(all), { stopMs: 300 });
  opened.push(metrics);
  return metrics;
}
const droppedPoints = async (metrics: Metrics): Promise<number> => {
  const { body } = await metrics.scrape(undefined);
  const found = /^holdpoint_telemetry_dropped_total\{signal="metrics",reason="not_sent"\} (\d+)$/m.exec(body);
  return Number(found?.[1] ?? 0);
};

const troubles = [
  ...([{ how: 'hang' }, { how: 'drip' }] as const),
  ...[503, 429, 400].map((status) => ({ how: { status, retryAfter: 60 } })),
];

test.each(troubles)('with a receiver that answers $how lines of the log are dropped and counted', async ({ how }) => {
  const { write, dropped } = await startLogs();
  receiver.behave(how);
  write(10);
  await expect.poll(() => dropped, within).toEqual({ queue_full: 0, not_sent: 10 });
  receiver.behave('ok');
  write(2);
  await expect.poll(() => receiver.logs.length, within).toBe(2);
  expect(dropped.not_sent).toBe(10);
});

test.each(troubles.slice(0, 3))(
  'with a receiver that answers $how points are dropped and counted, their sums come later',
  async ({ how }) => {
    receiver.behave(how);
    const metrics = await openMetrics();
    metrics.count('auditLosses', {}, 3);
    await expect.poll(() => droppedPoints(metrics), within).toBeGreaterThan(0);
    metrics.count('auditLosses', {}, 4);
    receiver.behave('ok');
    const arrived = () => receiver.points.filter(({ name }) => name === 'holdpoint.audit.losses').at(-1)?.value;
    await expect.poll(arrived, within).toBe(7);
  },
);

test('without a receiver lines and points are dropped and counted', async () => {
  await receiver[Symbol.asyncDispose]();
  const { write, dropped } = await startLogs();
  const metrics = await openMetrics({ OTEL_LOGS_EXPORTER: 'otlp' });
  write(10);
  metrics.count('auditLosses', {});
  await expect.poll(() => dropped.not_sent, within).toBe(10);
  await expect.poll(() => droppedPoints(metrics), within).toBeGreaterThan(0);
  receiver = await startOtlpReceiver();
});

test('an answer of garbage means that lines and points have arrived', async () => {
  receiver.behave('garbage');
  const { write, dropped } = await startLogs();
  const metrics = await openMetrics();
  write(10);
  metrics.count('auditLosses', {});
  await expect.poll(() => receiver.requests, within).toBeGreaterThan(3);
  expect(dropped).toEqual({ queue_full: 0, not_sent: 0 });
  expect(await droppedPoints(metrics)).toBe(0);
});

test('a receiver that hangs is owed one batch and one queue of lines, never more', async () => {
  receiver.behave('hang');
  const { write, dropped } = await startLogs({
    ...{ OTEL_BLRP_MAX_QUEUE_SIZE: '20', OTEL_BLRP_MAX_EXPORT_BATCH_SIZE: '5', OTEL_EXPORTER_OTLP_TIMEOUT: '60000' },
  });
  write(5);
  await expect.poll(() => receiver.requests, within).toBe(1);
  write(1000);
  expect(dropped).toEqual({ queue_full: 980, not_sent: 0 });
});

test('a sender that hangs is owed one batch and one queue of spans, never more', async () => {
  let dropped = 0;
  const sent: number[] = [];
  const sender = {
    send: async () => {},
    export: (spans: readonly unknown[]) => void sent.push(spans.length),
    shutdown: async () => {},
  };
  const queue = { size: 20, batch: 5, delayMs: 1 };
  const processor = openBoundedProcessor(sender, queue, (spans) => {
    dropped += spans;
  });
  const origin = { resource: {} as never, instrumentationScope: { name: 'holdpoint', version: '1' } };
  const span = readableSpan(
    origin,
    { traceId: 'a'.repeat(32), traceState: undefined },
    {
      ...{ span_id: 'b'.repeat(16), parent_id: null, kind: 'step', name: 'step', status: 'ok', message: undefined },
      ...{ start: '2026-01-02T03:04:05.006Z', end: '2026-01-02T03:04:07.005Z', attributes: {}, events: [], links: [] },
    },
  );
  for (let at = 0; at < 5; at++) processor.onEnd(span);
  await expect.poll(() => sent, within).toEqual([5]);
  for (let at = 0; at < 1000; at++) processor.onEnd(span);
  expect(dropped).toBe(980);
});

test.each(['hang', 'drip'] as const)('with a receiver that answers %s the end does not wait for it', async (how) => {
  receiver.behave(how);
  const slow = { OTEL_EXPORTER_OTLP_TIMEOUT: '600000', OTEL_METRIC_EXPORT_TIMEOUT: '600000' };
  const { write, stop } = await startLogs(slow);
  const metrics = await openMetrics({ ...slow, OTEL_METRIC_EXPORT_INTERVAL: '600000' });
  write(10);
  metrics.count('auditLosses', {});
  await Promise.all([stop(), metrics.stop()]);
});
