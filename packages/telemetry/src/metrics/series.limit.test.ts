import {
  attribute,
  type EndedSpans,
  genAi,
  general,
  metric,
  prometheusName,
  type TraceSpan,
} from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { openTelemetryThread } from '../thread/telemetry-thread.ts';
import { countSpans } from './count-spans.ts';
import { startMetrics } from './start-metrics.ts';

const service = { name: 'test', version: '1' };
const thread = openTelemetryThread({ service });

const tools = Array.from({ length: 20 }, (_, at) => `tool_${at}`);
const models = ['anthropic/claude-sonnet-4-5'];
const scraped = { host: '127.0.0.1', port: 0, isOpen: false };

let made = 0;
const span = (kind: TraceSpan['kind'], attributes: TraceSpan['attributes'], seconds: number): TraceSpan => ({
  ...{ span_id: (++made).toString(16).padStart(16, '0'), parent_id: null, kind, name: kind, status: 'ok' },
  ...{ start: '2026-01-02T03:04:05.000Z', end: new Date(Date.UTC(2026, 0, 2, 3, 4, 5) + seconds * 1000).toISOString() },
  ...{ attributes, events: [], links: [] },
});

/** A run whose names are all made up: by its submitter, its tenant and its model. */
function hostileRun(number: number): EndedSpans {
  const tool = number % 3 === 0 ? (tools[number % tools.length] ?? '') : `rm -rf / #${number}"\n{le="1"} 1`;
  const model = { [genAi.provider]: `provider-${number}`, [genAi.requestModel]: `model-${number}` };
  const ids = {
    [attribute.runId]: `run_${number}`,
    [attribute.stepId]: `step_${number}`,
    [attribute.approvalId]: `apr_${number}`,
    [attribute.tenant]: `tenant-${number}`,
    [attribute.decidedBy]: `person ${number}`,
  };
  const usage = { [genAi.inputTokens]: number, [genAi.outputTokens]: number * 2, [attribute.costMicros]: number };
  return {
    run_id: `run_${number}`,
    trace_id: number.toString(16).padStart(32, '0'),
    spans: [
      span(
        'wait',
        { [attribute.waitFor]: 'queue', [attribute.stepId]: 'step_1', [genAi.toolName]: tool },
        number / 100,
      ),
      span('attempt', { ...ids, [genAi.toolName]: tool, [attribute.attemptOutcome]: 'failed' }, number / 10),
      span('wait', { ...ids, [attribute.approvalKind]: 'action', [attribute.decision]: 'approve' }, number),
      span('step', { ...ids, [genAi.toolName]: tool, [attribute.stepOutcome]: 'failed' }, number),
      span('turn', { ...ids, ...model, ...usage, [genAi.operation]: 'chat' }, number / 10),
      span(
        'segment',
        { ...ids, [attribute.segmentState]: 'paused', [attribute.segmentReason]: `why-${number}` },
        number,
      ),
      span('run', { ...ids, [attribute.runOutcome]: 'failed', [general.errorType]: `E${number}` }, number * 10),
    ],
  };
}

async function scrapeAfter(runs: number, accept?: string): Promise<string> {
  const metrics = await startMetrics(service, { scraped }, { thread });
  const counted = countSpans(metrics, { tools, models });
  for (let number = 0; number < runs; number++) await counted.take([hostileRun(number)]);
  const { body } = await metrics.scrape(accept);
  await metrics.stop();
  return body;
}

const seriesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

test('a thousand runs with names of their own begin few series', async () => {
  const text = await scrapeAfter(1000);
  const series = seriesOf(text);
  // Tools are the most: 21 names in three histograms of 12 to 15 buckets.
  expect(series.length).toBeLessThan(2500);
  // The second thousand begins none that the first one could not have begun.
  expect(seriesOf(await scrapeAfter(2000))).toHaveLength(series.length);
  expect(text).not.toMatch(/run_\d|step_\d|apr_\d|tenant-|person |rm -rf|why-/);
  expect(text).toContain('tool="other"');
  expect(text).toContain('tool="tool_3"');
  expect(text).toMatch(/gen_ai_request_model="other"/);
  const cost = series.filter((line) => line.startsWith(`${prometheusName(metric.cost)}{`));
  expect(cost.length).toBeLessThanOrEqual(31);
  const reasons = series.filter((line) => line.startsWith(`${prometheusName(metric.runsEnded)}{`));
  expect(reasons.length).toBeLessThanOrEqual(61);
  // Nothing is lost: what has no name of its own is counted together.
  const total = reasons.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  expect(total).toBe(1000);
});

test('exemplars name the trace and the run, and only OpenMetrics has them', async () => {
  const text = await scrapeAfter(3, 'application/openmetrics-text;version=1.0.0');
  const line = text.split('\n').find((one) => one.includes('tool="tool_0"') && one.includes(' # '));
  expect(line).toMatch(/# \{trace_id="0{32}",span_id="[0-9a-f]{16}",run_id="run_0"\} 0 \d+\.\d{3}$/);
  expect(await scrapeAfter(3)).not.toContain('trace_id');
});

test('off, nothing is kept', async () => {
  const metrics = await startMetrics(service, {}, { thread });
  expect(metrics.isOn).toBe(false);
  metrics.count('repairs', { class: 'expired' });
  expect((await metrics.scrape(undefined)).body).toBe('');
});

test('a value no longer read is absent, and an unreadable value hides no other', async () => {
  const metrics = await startMetrics(service, { scraped }, { thread });
  let states = ['paused', 'queued'];
  metrics.observe('runs', () => states.map((state) => ({ value: 1, labels: { state } })));
  metrics.observe('workers', () => Promise.reject(new Error('Redis is away')));
  metrics.observe('auditLag', () => [{ value: 2.5 }]);
  expect(seriesOf((await metrics.scrape(undefined)).body)).toContain('holdpoint_runs{state="paused"} 1');
  states = ['queued'];
  const { body } = await metrics.scrape(undefined);
  expect(seriesOf(body).slice(1)).toEqual(['holdpoint_runs{state="queued"} 1', 'holdpoint_audit_lag_seconds 2.5']);
  await metrics.stop();
});
