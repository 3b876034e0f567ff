import { execFileSync } from 'node:child_process';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApi, type TestApi } from '../../testing/test-api.ts';

const lines: string[] = [];
const logger = pino({ level: 'info' }, { write: (line) => void lines.push(line) });
let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ logger, metrics: { scraped: { host: '127.0.0.1', port: 0, isOpen: false } } });
});
afterAll(() => api.stop());

const scrape = async (accept = ''): Promise<string> => {
  const answer = await api.send('/metrics', { headers: { accept } });
  expect(answer.status).toBe(200);
  return answer.text();
};
/** The value of a series, by the beginning of its line. */
const valueOf = (text: string, series: string): number =>
  Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${series} `))
      ?.slice(series.length),
  );

test('counts what is in the installation, and requests by route', async () => {
  await api.client.createRun({ plan: { groups: [{ steps: [{ tool: 'bash', args: { command: 'true' } }] }] } });
  await api.send('/v1/nothing-of-the-kind');
  const text = await scrape();
  expect(valueOf(text, 'holdpoint_runs{state="queued"}')).toBe(1);
  expect(valueOf(text, 'holdpoint_queue_jobs{queue="turns",state="backlog"}')).toBe(1);
  expect(valueOf(text, 'holdpoint_redis_up')).toBe(1);
  expect(valueOf(text, 'holdpoint_redis_writable')).toBe(1);
  expect(valueOf(text, 'holdpoint_redis_aof_enabled')).toBe(1);
  expect(valueOf(text, 'holdpoint_redis_memory_used_bytes')).toBeGreaterThan(0);
  expect(valueOf(text, 'holdpoint_disk_free_bytes')).toBeGreaterThan(0);
  expect(text).toContain('holdpoint_audit_lag_seconds ');
  const count = 'http_server_request_duration_seconds_count';
  const created = '{http_request_method="POST",http_route="/v1/runs",http_response_status_code="201"}';
  expect(valueOf(text, `${count}${created}`)).toBe(1);
  // A path without a route is no label.
  expect(valueOf(text, `${count}{http_request_method="GET",http_response_status_code="404"}`)).toBe(1);
  expect(text).not.toContain('nothing-of-the-kind');
});

test('is answered without a key only when the operator says so', async () => {
  const without = await fetch(`${api.address}/metrics`);
  expect(without.status).toBe(401);
  const { key } = await api.client.createKey({ name: 'reader', kind: 'service', scopes: ['runs:read'] });
  const lacking = await fetch(`${api.address}/metrics`, { headers: { authorization: `Bearer ${key}` } });
  expect(lacking.status).toBe(403);
});

test('a client that takes OpenMetrics gets it', async () => {
  const accept = 'application/openmetrics-text;version=1.0.0,text/plain;q=0.5';
  const text = await scrape(accept);
  expect(text.endsWith('# EOF\n')).toBe(true);
  expect(text).toContain('# TYPE process_cpu_time_seconds counter\n# UNIT process_cpu_time_seconds seconds\n');
});

test('a level of the log is changed, recorded, and taken back', async () => {
  const changed = await api.client.setLogLevel({ level: 'debug', of: 'api' });
  expect(changed).toEqual({ level: 'debug', of: 'api', processes: 1 });
  await expect.poll(() => logger.level).toBe('debug');
  await api.client.setLogLevel({ level: 'silent', of: 'workers' });
  await api.client.setLogLevel({ level: 'default' });
  await expect.poll(() => logger.level).toBe('info');
  const refused = await api.send('/v1/log-level', {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: '{"level":"loud"}',
  });
  expect(refused.status).toBe(422);
  const entries = await api.engine.redis.lrange('hp:{audit}:entries', 0, -1);
  const levels = entries.map((entry) => JSON.parse(entry)).filter(({ subject }) => subject === 'log-level');
  expect(levels.map(({ detail }) => detail.level)).toEqual(['debug', 'silent', 'default']);
});

test('answers and lines name the trace of the caller, and lines their run', async () => {
  const traceId = 'a'.repeat(32);
  const traceparent = `00-${traceId}-${'b'.repeat(16)}-01`;
  const missing = await api.send('/v1/runs/run_018f0000-0000-7000-8000-000000000000', { headers: { traceparent } });
  expect(missing.headers.get('x-trace-id')).toBe(traceId);
  expect(await missing.json()).toMatchObject({ code: 'run_not_found', trace_id: traceId });
  lines.length = 0;
  const plan = { groups: [{ steps: [{ tool: 'bash', args: { command: 'true' } }] }] };
  const made = await api.post('/v1/runs', { plan }, { traceparent });
  const { id } = (await made.json()) as { id: string };
  await expect
    .poll(() => lines.map((line) => JSON.parse(line)))
    .toContainEqual(expect.objectContaining({ msg: 'answered', run_id: id, trace_id: traceId }));
});

const promtool = (() => {
  try {
    execFileSync('promtool', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();
test.skipIf(!promtool)('is what promtool calls well-formed', async () => {
  execFileSync('promtool', ['check', 'metrics'], { input: await scrape() });
});
