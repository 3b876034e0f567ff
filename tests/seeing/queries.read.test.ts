import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { queuePrefix } from '@holdpoint/engine/worker';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type AppProcess,
  bash,
  finished,
  type ModelServer,
  nextApproval,
  openModelServer,
  plan,
  projectDir,
  type System,
  startSystem,
  until,
} from '../harness/index.ts';
import { doEverything } from './do-everything.ts';
import { readRules } from './read-rules.ts';
import { type Prometheus, startPrometheus } from './start-prometheus.ts';

/** Until a counter that changed has two samples, on a machine with other work. */
const patience = { withinMs: 60_000 };

let system: System;
let workers: AppProcess[];
let prometheus: Prometheus;
let model: ModelServer;
let site: Server;
/** Prompts that were answered with 429 once. */
const throttled = new Set<string>();
const ending = new AbortController();

beforeAll(async () => {
  model = await openModelServer(({ prompt, results }) => {
    if (prompt.includes('refused')) return { refusal: 401 };
    if (prompt.includes('later') && !throttled.has(prompt)) {
      throttled.add(prompt);
      return { refusal: 429 };
    }
    return results.length > 0 ? { text: 'done' } : { calls: [{ tool: 'list_directory', args: { path: '.' } }] };
  });
  site = createServer((_request, response) => void response.end('hello'));
  await new Promise<void>((ready) => site.listen(0, '127.0.0.1', ready));
  system = await startSystem({
    HOLDPOINT_METRICS: '127.0.0.1:0',
    HOLDPOINT_MODEL: 'openai-compatible/local',
    HOLDPOINT_MODEL_PRICES: JSON.stringify({ 'openai-compatible/local': { input: 3, output: 15 } }),
    OPENAI_COMPATIBLE_BASE_URL: `${model.url}/v1`,
    HOLDPOINT_ALLOW_ADDRESSES: '127.0.0.1/32',
    // No collector listens there: telemetry is lost, and nothing else.
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_BSP_SCHEDULE_DELAY: '500',
  });
  workers = [await system.startWorker(), await system.startWorker()];
  prometheus = await startPrometheus({
    directory: join(system.directory, 'prometheus'),
    api: new URL(system.api.url()).host,
    workers: workers.map(({ ready }) => new URL(String(ready.metrics)).host),
    key: system.key,
  });
  const everything = { system, site: `127.0.0.1:${(site.address() as AddressInfo).port}` };
  // A counter that is seen once has no rate yet.
  await doEverything(everything);
  await prometheus.scraped();
  await doEverything(everything);
  await provoke();
  await prometheus.scraped();
}, 300_000);
afterAll(async () => {
  ending.abort();
  await prometheus.stop();
  await system[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
  site.close();
});

/** The faults without which some series do not exist. */
async function provoke(): Promise<void> {
  const { client } = system;
  const redis = new Redis(system.redis.address);
  await redis.config('SET', 'maxmemory', String(2 ** 30));
  // A run that waits, with a client that follows it, and an approval that expires soon.
  const { run } = await client.createRun({
    plan: plan([{ tool: 'write_file', args: { path: 'a.txt', content: 'a\n' } }]),
    policy: { rules: [{ match: { tool: 'write_file' }, action: 'hold' }], approval_timeout_s: 1200 },
  });
  await nextApproval(client, run.id);
  void follow(run.id);
  // Redis loses its queues: the sweep makes the jobs again.
  await redis.unlink(...(await redis.keys(`${queuePrefix}:*`)));
  await redis.quit();
  await until('the sweep repaired a run', async () => Object.keys((await client.stuck()).repairs).length > 0);
  await loseWorker();
}

async function follow(runId: string): Promise<void> {
  try {
    for await (const _ of system.client.events(runId, { signal: ending.signal }));
  } catch (error) {
    if (!ending.signal.aborted) throw error;
  }
}

/** A worker that does not follow the logs dies in a step; the other one repeats it. */
async function loseWorker(): Promise<void> {
  const { client } = system;
  const [follower] = await prometheus.query('holdpoint_follower_active == 1');
  const at = workers.findIndex(({ ready }) => new URL(String(ready.metrics)).host !== follower?.metric.instance);
  expect(follower).toBeDefined();
  const { run } = await client.createRun({ plan: plan([bash('sleep 3')]) });
  await until('the step runs', async () => (await client.listSteps(run.id)).data[0]?.status === 'running');
  await workers[at]?.signal('SIGKILL');
  await finished(client, run.id);
}

/** What Grafana puts in for its variables. */
const concrete = (promql: string): string =>
  promql
    .replaceAll('$__rate_interval', '5m')
    .replaceAll('$__range', '1h')
    .replaceAll(/\$(tool|model)\b/g, '.*');

const hasData = async (promql: string): Promise<boolean> =>
  (await prometheus.query(promql)).some(({ value }) => !Number.isNaN(value));

interface Dashboard {
  title: string;
  panels: { title: string; targets?: { expr?: string; datasource: { type: string } }[] }[];
  templating: { list: { type: string; query: unknown }[] };
}

const folder = join(projectDir, 'infra/grafana/dashboards');
const dashboards = readdirSync(folder).map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Dashboard);
const panels = dashboards.flatMap((dashboard) =>
  dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.flatMap(({ expr, datasource }) =>
      datasource.type === 'prometheus' && expr !== undefined
        ? [{ page: dashboard.title, title, expr: concrete(expr) }]
        : [],
    ),
  ),
);

test('only the process that was killed cannot be scraped', async () =>
  expect(await prometheus.scrapeErrors()).toEqual([expect.stringContaining('connection refused')]));

test('a point of a histogram leads to the trace of a run', async () => {
  const [run] = (await system.client.listRuns({ limit: 1, status: ['succeeded'] })).data;
  const exemplars = await prometheus.exemplars('holdpoint_run_duration_seconds_bucket');
  expect(exemplars.map(({ labels }) => labels.run_id)).toContain(run?.id);
  for (const { labels } of exemplars) expect(labels.trace_id).toMatch(/^[0-9a-f]{32}$/);
});

test.each(panels)('$page, $title: $expr', ({ expr }) => until(`${expr} has data`, () => hasData(expr), patience));

test('each choice of a dashboard has values', async () => {
  const choices = dashboards.flatMap(({ templating }) =>
    templating.list.flatMap(({ query }) => {
      const text = typeof query === 'object' && query !== null && 'query' in query ? String(query.query) : '';
      return [...text.matchAll(/label_values\((\w+), (\w+)\)/g)].map(
        ([, name, label]) => `count by (${label}) (${name})`,
      );
    }),
  );
  expect(choices.length).toBeGreaterThan(0);
  for (const choice of choices) await until(`${choice} has values`, () => hasData(choice), patience);
});

describe('alerts', () => {
  /** Series that exist only after a fault below. */
  const provokedLater = ['http_response_status_code=~"5.."'];
  const selectors = new Set(
    readRules().flatMap(
      ({ expr }) => expr.match(/\b(?:holdpoint_|gen_ai_client_|http_server_|process_|up\b)\w*(?:\{[^}]*\})?/g) ?? [],
    ),
  );
  const present = [...selectors].filter((selector) => !provokedLater.some((one) => selector.includes(one)));

  test.each(present)('read what the system has: %s', (selector) =>
    until(`${selector} has data`, () => hasData(selector), patience),
  );

  test('an approval that expires soon and a refused key fire at once', async () => {
    const firing = (name: string) => hasData(`ALERTS{alertname="${name}", alertstate="firing"}`);
    for (const name of ['HoldpointApprovalExpiring', 'HoldpointModelRefused'])
      await until(`${name} fires`, () => firing(name), patience);
  });

  test('a worker that died is seen', () => seen('HoldpointWorkerDown'));

  test('a system without a worker is seen, and what waits for one', async () => {
    for (const worker of workers) if (worker.isAlive()) await worker.signal('SIGKILL');
    await system.client.createRun({ plan: plan([bash('true')]) });
    await seen('HoldpointNoWorker');
    await seen('HoldpointQueueStands');
  });

  test('a Redis that does not answer is seen, and requests that fail for it', async () => {
    await system.redis.kill();
    await seen('HoldpointRedisDown');
    await expect(system.client.listRuns({})).rejects.toMatchObject({ status: 503 });
    await until(
      'failed requests are counted',
      () => hasData('http_server_request_duration_seconds_count{http_response_status_code=~"5.."}'),
      patience,
    );
  });
});

/** Waits until the expression of an alert has a result: it fires after its `for`, which promtool tests. */
async function seen(alert: string): Promise<void> {
  const { expr = '' } = readRules().find((rule) => rule.alert === alert) ?? {};
  await until(`${alert} has a result`, () => hasData(expr), patience);
}
