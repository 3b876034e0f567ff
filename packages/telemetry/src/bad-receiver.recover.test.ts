import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type LogExport, openLogExport } from './logs/open-log-export.ts';
import type { Metrics } from './metrics/metrics.ts';
import { startMetrics } from './metrics/start-metrics.ts';
import { Outbox } from './outbox.ts';
import { logExportFrom } from './settings/log-export.ts';
import { metricsSettingsFrom } from './settings/metrics.ts';
import { type OtlpReceiver, startOtlpReceiver } from './testing/otlp-receiver.ts';
import { openTelemetryThread, type TelemetryThread } from './thread/telemetry-thread.ts';

let receiver: OtlpReceiver;
let opened: (LogExport | Metrics)[] = [];
let threads: TelemetryThread[] = [];
beforeEach(async () => {
  receiver = await startOtlpReceiver();
});
afterEach(async () => {
  await Promise.all(opened.map((one) => one.stop()));
  opened = [];
  await Promise.all(threads.map((one) => one.stop()));
  threads = [];
  await receiver[Symbol.asyncDispose]();
  vi.unstubAllEnvs();
});

const service = { name: 'holdpoint-worker', version: '1' };
const within = { timeout: 20_000 };

function settingsFrom(env: Record<string, string>) {
  const all = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_TIMEOUT: '2000', ...env };
  for (const [name, value] of Object.entries(all)) vi.stubEnv(name, value);
  return all;
}

async function startLogs(env: Record<string, string> = {}) {
  const settings = logExportFrom(settingsFrom({ OTEL_LOGS_EXPORTER: 'otlp', OTEL_BLRP_SCHEDULE_DELAY: '20', ...env }));
  const dropped = { queue_full: 0, not_sent: 0 };
  const onDropped = (lines: number, reason: 'queue_full' | 'not_sent'): void => {
    dropped[reason] += lines;
  };
  const thread = openTelemetryThread({ service, logs: settings });
  threads.push(thread);
  const exported = openLogExport({ thread, onDropped, stopMs: 300 }, settings) as LogExport;
  opened.push(exported);
  const write = (count: number): void => {
    for (let at = 0; at < count; at++) exported.write(JSON.stringify({ level: 30, time: 1, msg: `line ${at}` }));
  };
  return { write, dropped, stop: exported.stop };
}

async function openMetrics(env: Record<string, string> = {}): Promise<Metrics> {
  const all = settingsFrom({
    ...{ HOLDPOINT_METRICS: 'on', OTEL_METRIC_EXPORT_INTERVAL: '2000', OTEL_METRIC_EXPORT_TIMEOUT: '2000', ...env },
  });
  const settings = metricsSettingsFrom(all);
  const thread = openTelemetryThread({ service, metrics: settings.otlp });
  threads.push(thread);
  const metrics = await startMetrics(service, settings, { thread, stopMs: 300 });
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

test('a hanging receiver is owed a single batch and a queue of lines, never more', async () => {
  receiver.behave('hang');
  const { write, dropped } = await startLogs({
    ...{ OTEL_BLRP_MAX_QUEUE_SIZE: '20', OTEL_BLRP_MAX_EXPORT_BATCH_SIZE: '5', OTEL_EXPORTER_OTLP_TIMEOUT: '60000' },
  });
  write(5);
  await expect.poll(() => receiver.requests, within).toBe(1);
  write(1000);
  expect(dropped).toEqual({ queue_full: 980, not_sent: 0 });
});

test('a hanging receiver is owed a single batch and a queue, never more; the rest follows', async () => {
  let dropped = 0;
  const sent: number[] = [];
  const hanging = Promise.withResolvers<void>();
  const outbox = new Outbox<number>({
    ...{ size: 20, batch: 5, delayMs: 1 },
    send(items) {
      sent.push(items.length);
      return hanging.promise;
    },
    onFull: () => {
      dropped += 1;
    },
  });
  for (let at = 0; at < 5; at++) outbox.put(at);
  await expect.poll(() => sent, within).toEqual([5]);
  for (let at = 0; at < 1001; at++) outbox.put(at);
  expect(dropped).toBe(981);
  hanging.resolve();
  await outbox.flush();
  for (let at = 0; at < 7; at++) outbox.put(at);
  await expect.poll(() => sent, within).toEqual([5, 5, 5, 5, 5, 5, 2]);
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
