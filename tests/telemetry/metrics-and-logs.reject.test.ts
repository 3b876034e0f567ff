import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type OtlpReceiver, startOtlpReceiver } from '@holdpoint/telemetry/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type AppProcess,
  bash,
  finish,
  formsOf,
  type ModelServer,
  openModelServer,
  plan,
  type System,
  startSystem,
  succeed,
  until,
} from '../harness/index.ts';

const secret = 'planted-value/with "quotes" & 7';
/** They are content: of a prompt, an argument, an output, an answer, a tool that does not exist. */
const marks = ['mark-prompt-71c3', 'mark-argument-9ab0', 'mark-output-4e5d', 'mark-answer-d15c', 'mark_tool_03ff'];

let receiver: OtlpReceiver;
let model: ModelServer;
let system: System;
let worker: AppProcess;
beforeAll(async () => {
  receiver = await startOtlpReceiver();
  model = await openModelServer(({ results }) =>
    results.length > 0
      ? { text: 'mark-answer-d15c' }
      : {
          text: 'mark-answer-d15c',
          calls: [
            {
              tool: 'bash',
              args: { command: 'echo "$PLANTED"; printf mark-%s output-4e5d; : mark-argument-9ab0; exit 3' },
            },
            { tool: 'mark_tool_03ff', args: {} },
          ],
        },
  );
  system = await startSystem({
    HOLDPOINT_METRICS: '127.0.0.1:0',
    HOLDPOINT_LOG: 'debug',
    HOLDPOINT_MODEL: 'openai-compatible/local',
    OPENAI_COMPATIBLE_BASE_URL: `${model.url}/v1`,
    HOLDPOINT_SECRET_PLANTED: secret,
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_TRACES_EXPORTER: 'none',
    OTEL_LOGS_EXPORTER: 'otlp',
    OTEL_BLRP_SCHEDULE_DELAY: '200',
    OTEL_METRIC_EXPORT_INTERVAL: '1000',
  });
  worker = await system.startWorker();
}, 120_000);
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

const scrapeWorker = async (): Promise<string> => (await fetch(String(worker.ready.metrics))).text();
const scrapeApi = async (): Promise<string> => {
  const headers = { authorization: `Bearer ${system.key}`, accept: 'application/openmetrics-text;version=1.0.0' };
  return (await fetch(`${system.api.url()}/metrics`, { headers })).text();
};

test('runs are counted and logged, and no byte of it is content', { timeout: 120_000 }, async () => {
  const { client } = system;
  const secrets = [{ name: 'PLANTED', as: { env: 'PLANTED' } }];
  const policy = { rules: [{ match: {}, action: 'allow' as const }] };
  const run = await finish(client, { prompt: 'mark-prompt-71c3 $PLANTED', secrets, policy });
  const failing = await finish(client, { plan: plan([bash('echo "$PLANTED" >&2; exit 4')]), secrets, policy });
  await until('the runs are counted', async () => {
    const text = await scrapeWorker();
    return ['model', 'scripted'].every((planner) =>
      new RegExp(`^holdpoint_runs_ended_total\\{.*planner="${planner}".*\\} 1$`, 'm').test(text),
    );
  });
  const [ofWorker, ofApi] = [await scrapeWorker(), await scrapeApi()];
  for (const name of [
    'holdpoint_attempt_duration_seconds_count{tool="bash",outcome="failed"}',
    'holdpoint_step_queue_duration_seconds_count{tool="bash"}',
    'holdpoint_sandbox_setup_duration_seconds_count{kind="command"}',
    'holdpoint_workspace_operation_duration_seconds_count{operation="materialise",outcome="ok"}',
    'gen_ai_client_token_usage_count{gen_ai_operation_name="chat"',
    'gen_ai_client_operation_duration_seconds_count{',
    'tool="other"',
    'holdpoint_follower_active 1',
  ]) {
    expect(ofWorker).toContain(name);
  }
  expect(ofApi).toContain('holdpoint_runs{state="ended"}');

  const logged = () => receiver.logs.filter(({ attributes }) => attributes.run_id === run.id);
  await until('lines about the run arrived', async () => logged().length > 0);
  await until('metrics arrived', async () =>
    receiver.points.some(({ name, value }) => name === 'holdpoint.attempt.duration' && value > 0),
  );
  for (const { trace_id, attributes } of logged()) expect(trace_id).toBe(attributes.trace_id);

  const files = readdirSync(system.directory)
    .filter((name) => name.endsWith('.log'))
    .map((name) => readFileSync(join(system.directory, name), 'utf8'));
  const lines = files.flatMap((text) => text.split('\n')).filter((line) => line.startsWith('{'));
  const about = lines.map((line) => JSON.parse(line)).filter(({ run_id }) => run_id !== undefined);
  expect(about.length).toBeGreaterThan(0);
  for (const line of about) expect(line).toMatchObject({ trace_id: expect.stringMatching(/^[0-9a-f]{32}$/) });
  expect(about.some(({ run_id }) => run_id === failing.id)).toBe(true);

  const all = Buffer.concat([Buffer.from([ofWorker, ofApi, ...files].join('\n')), ...receiver.bodies]);
  const found = [secret, ...marks].flatMap(formsOf).filter((form) => all.includes(form));
  expect(found.map(String)).toEqual([]);
});

test('with a receiver that answers byte by byte a run loses nothing, and what is dropped is counted', {
  timeout: 120_000,
}, async () => {
  await worker.signal('SIGTERM');
  worker = await system.startWorker({ OTEL_EXPORTER_OTLP_TIMEOUT: '500', OTEL_METRIC_EXPORT_TIMEOUT: '500' });
  receiver.behave('drip');
  await succeed(system.client, { plan: plan([bash('true')], [bash('true')]) });
  for (const signal of ['metrics', 'logs']) {
    const isCounted = new RegExp(
      `^holdpoint_telemetry_dropped_total\\{signal="${signal}",reason="not_sent"\\} [1-9]`,
      'm',
    );
    await until(`dropped ${signal} are counted`, async () => isCounted.test(await scrapeWorker()));
  }
  await worker.signal('SIGTERM');
  const logs = readdirSync(system.directory)
    .filter((name) => name.startsWith('worker-'))
    .map((name) => readFileSync(join(system.directory, name), 'utf8'));
  const own = logs.find((text) => text.includes(`"pid":${worker.pid},`)) ?? '';
  expect(own).toContain('worker ended; nothing is lost');
});
