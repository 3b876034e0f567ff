import { afterAll, beforeAll, expect, test } from 'vitest';
import { bash, plan, until } from '../harness/index.ts';
import { type FaultySystem, startFaultySystem } from './faulty-system.ts';
import { alertSelectors, choiceQueries, panelQueries } from './queries.ts';
import { readRules } from './read-rules.ts';

/** Until a fault is seen: the API looks every ten seconds, on a machine with other work. */
const patience = { withinMs: 90_000 };
/** Only a Redis that is away makes them: the last test. */
const failedRequests =
  'http_server_request_duration_seconds_count{job="holdpoint-api", http_response_status_code=~"5.."}';

let faulty: FaultySystem;
const hasData = async (promql: string): Promise<boolean> =>
  (await faulty.prometheus.query(promql)).some(({ value }) => !Number.isNaN(value));

/** Queries that had no data in a minute. */
const silent = new Set([...panelQueries.map(({ promql }) => promql), ...choiceQueries, ...alertSelectors]);
beforeAll(async () => {
  faulty = await startFaultySystem();
  silent.delete(failedRequests);
  const ask = async (): Promise<boolean> => {
    for (const promql of silent) if (await hasData(promql)) silent.delete(promql);
    return silent.size === 0;
  };
  await until('every query has data', ask, { withinMs: 60_000 }).catch(() => undefined);
}, 400_000);
afterAll(() => faulty?.stop());

test.each(panelQueries)('$page, $title has data: $promql', ({ promql }) => expect(silent).not.toContain(promql));

test.each(choiceQueries)('a choice has values: %s', (promql) => expect(silent).not.toContain(promql));

test.each(alertSelectors)('alerts read what the system has: %s', (promql) => expect(silent).not.toContain(promql));

test('only the process that was killed cannot be scraped', async () =>
  expect(await faulty.prometheus.scrapeErrors()).toEqual([expect.stringContaining('connection refused')]));

test('a point of a histogram leads to the trace of a run', async () => {
  const { data: runs } = await faulty.system.client.listRuns({ limit: 100 });
  const exemplars = await faulty.prometheus.exemplars('holdpoint_run_duration_seconds_bucket');
  expect(exemplars.length).toBeGreaterThan(0);
  for (const { labels } of exemplars) {
    expect(runs.map(({ id }) => id)).toContain(labels.run_id);
    expect(labels.trace_id).toMatch(/^[0-9a-f]{32}$/);
  }
});

test('an approval that expires soon and a refused key fire at once', async () => {
  const isFiring = (name: string) => hasData(`ALERTS{alertname="${name}", alertstate="firing"}`);
  for (const name of ['HoldpointApprovalExpiring', 'HoldpointModelRefused'])
    await until(`${name} fires`, () => isFiring(name), patience);
});

test('a worker that died is seen', () => seen('HoldpointWorkerDown'));

test('a system without a worker is seen, and what waits for one', async () => {
  const { system, workers } = faulty;
  for (const worker of workers) if (worker.isAlive()) await worker.signal('SIGKILL');
  await system.client.createRun({ plan: plan([bash('true')]) });
  await seen('HoldpointNoWorker');
  await seen('HoldpointQueueStands');
});

test('a silent Redis is visible, and so are the requests failing because of the silence', async () => {
  const { system } = faulty;
  await system.redis.kill();
  await expect(system.client.listRuns({})).rejects.toMatchObject({ status: 503 });
  await seen('HoldpointRedisDown');
  await until('failed requests are counted', () => hasData(failedRequests), patience);
});

/** Waits until the expression of an alert has a result: it fires after its `for`, which promtool tests. */
async function seen(alert: string): Promise<void> {
  const { expr = '' } = readRules().find((rule) => rule.alert === alert) ?? {};
  await until(`${alert} has a result`, () => hasData(expr), patience);
}
