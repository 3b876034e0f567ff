import { request } from 'node:http';
import { expect, test } from 'vitest';
import { metricsSettingsFrom } from '../settings/metrics.ts';
import { noMetrics } from './metrics.ts';
import { MetricsPlaceError, serveMetrics } from './serve-metrics.ts';

const place = { host: '127.0.0.1', port: 0 };

const statusOf = (address: string, options: { host?: string; method?: string }): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const { host, method = 'GET' } = options;
    const sent = request(address, { method, ...(host !== undefined && { headers: { host } }) }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    sent.on('error', reject);
    sent.end();
  });

test('a port that is taken is an error with the name of the setting', async () => {
  const first = await serveMetrics(place, noMetrics);
  const { port } = new URL(first.address);
  const second = serveMetrics({ ...place, port: Number(port) }, noMetrics);
  await expect(second).rejects.toThrow(MetricsPlaceError);
  await expect(second).rejects.toThrow(/HOLDPOINT_METRICS: .*127\.0\.0\.1:\d+: another process has this port/);
  await first.close();
});

test('only /metrics is answered, and on loopback only under a loopback name', async () => {
  const served = await serveMetrics(place, noMetrics);
  expect(await statusOf(served.address, {})).toBe(200);
  expect(await statusOf(served.address, { host: 'localhost:9464' })).toBe(200);
  expect(await statusOf(served.address, { host: 'attacker.example' })).toBe(403);
  expect(await statusOf(served.address, { host: '127.0.0.1.attacker.example' })).toBe(403);
  expect(await statusOf(served.address, { method: 'POST' })).toBe(405);
  expect(await statusOf(served.address.replace('/metrics', '/'), {})).toBe(404);
  await served.close();
});

test.each([
  [{}, undefined],
  [{ HOLDPOINT_METRICS: 'off' }, undefined],
  [{ HOLDPOINT_METRICS: 'on' }, { host: '127.0.0.1', port: 9464, isOpen: false }],
  [
    { HOLDPOINT_METRICS: '9000', HOLDPOINT_METRICS_ACCESS: 'open' },
    { host: '127.0.0.1', port: 9000, isOpen: true },
  ],
  [{ HOLDPOINT_METRICS: '0.0.0.0:9000' }, { host: '0.0.0.0', port: 9000, isOpen: false }],
  [{ HOLDPOINT_METRICS: '[::1]:0' }, { host: '::1', port: 0, isOpen: false }],
])('the setting %j means %j', (env, scraped) => expect(metricsSettingsFrom(env).scraped).toEqual(scraped));

test.each([
  [{ HOLDPOINT_METRICS: 'yes' }, 'HOLDPOINT_METRICS: '],
  [{ HOLDPOINT_METRICS: '1.2.3.4:99999' }, 'HOLDPOINT_METRICS: '],
  [{ HOLDPOINT_METRICS: 'http://here:1' }, 'HOLDPOINT_METRICS: '],
  [{ HOLDPOINT_METRICS: 'on', HOLDPOINT_METRICS_ACCESS: 'all' }, 'HOLDPOINT_METRICS_ACCESS: '],
])('the setting %j is refused by its name', (env, name) => expect(() => metricsSettingsFrom(env)).toThrow(name));

test('OTLP is sent where the standard variables say so', () => {
  const otlp = (env: Record<string, string>) => metricsSettingsFrom(env).otlp !== undefined;
  const everything = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
  expect(otlp(everything)).toBe(true);
  expect(otlp({ ...everything, OTEL_METRICS_EXPORTER: 'none' })).toBe(false);
  expect(otlp({ ...everything, OTEL_SDK_DISABLED: 'true' })).toBe(false);
  expect(otlp({ OTEL_METRICS_EXPORTER: 'otlp' })).toBe(true);
  expect(otlp({})).toBe(false);
});
