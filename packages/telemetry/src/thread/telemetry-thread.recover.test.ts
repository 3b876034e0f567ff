import { hash } from 'node:crypto';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openLogExport } from '../logs/open-log-export.ts';
import { logExportFrom } from '../settings/log-export.ts';
import { traceSettingsFrom } from '../settings/traces.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../testing/otlp-receiver.ts';
import { startTraces } from '../traces/start-traces.ts';
import type { Traces } from '../traces/traces.ts';
import { openTelemetryThread, type TelemetryThread } from './telemetry-thread.ts';

const service = { name: 'holdpoint-worker', version: '1' };
const runId = 'run_01890a5d-ac96-774b-bcce-b302099a8057';
const place = {
  ...{ run_id: runId, trace_id: 'c'.repeat(32), span_id: 'd'.repeat(16), tracestate: 'a=b' },
  attributes: { 'holdpoint.step.id': 'step_1' },
};
const within = { timeout: 20_000 };

let receiver: OtlpReceiver;
let thread: TelemetryThread;
let traces: Traces;
let dropped = 0;
let lines: object[] = [];
beforeEach(async () => {
  [dropped, lines] = [0, []];
  receiver = await startOtlpReceiver();
  const all = {
    ...{ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_LOGS_EXPORTER: 'otlp', OTEL_BLRP_SCHEDULE_DELAY: '20' },
    OTEL_BSP_SCHEDULE_DELAY: '20',
  };
  for (const [name, value] of Object.entries(all)) vi.stubEnv(name, value);
  const settings = { traces: traceSettingsFrom(all), logs: logExportFrom(all) };
  thread = openTelemetryThread({ service, ...settings });
  const log = (fields: object): void => void lines.push(fields);
  thread.logTo({ debug: log, info: log, warn: log, error: log });
  const logger = { warn: log, debug: log };
  const onDropped = (spans: number): void => {
    dropped += spans;
  };
  traces = (await startTraces({ thread, service, logger, onDropped }, settings.traces)) as Traces;
});
afterEach(async () => {
  await traces.stop();
  await thread.stop();
  await receiver[Symbol.asyncDispose]();
  vi.unstubAllEnvs();
});

const breakThread = (): Promise<unknown> =>
  thread.ask(
    'load',
    'data:text/javascript,setTimeout(() => { throw new Error("planted") });await new Promise(() => {})',
  );

test('a live span arrives below its place, as it ended', async () => {
  const began = Date.now() - 5000;
  await traces.live.within(
    () => place,
    () =>
      traces.live.during({ name: 'model request', kind: 'client', attributes: { model: 'm' } }, async (set) => {
        traces.live.add({ name: 'egress refused', startTime: began, endTime: began + 2000, error: 'EHOST' });
        set({ tokens: 3, reasons: ['stop'] });
      }),
  );
  await expect.poll(() => receiver.spans.length, within).toBe(2);
  const [inner, outer] = receiver.spans;
  const common = { trace_id: place.trace_id, trace_state: 'a=b' };
  const own = { 'holdpoint.run.id': runId, 'holdpoint.step.id': 'step_1' };
  expect(outer).toMatchObject({ ...common, name: 'model request', kind: 3, parent_id: place.span_id, status: 'unset' });
  expect(outer?.attributes).toEqual({ ...own, model: 'm', tokens: 3, reasons: ['stop'] });
  expect(inner).toMatchObject({
    ...common,
    parent_id: outer?.span_id,
    start: began,
    end: began + 2000,
    status: 'error',
  });
  expect(inner?.attributes).toEqual({ ...own, 'error.type': 'EHOST' });
  expect(inner?.resource).toMatchObject({ 'service.name': 'holdpoint-worker', 'process.pid': process.pid });
});

test('work without a span computes no place', async () => {
  const placeOf = vi.fn(() => place);
  expect(traces.live.within(placeOf, () => 'done')).toBe('done');
  expect(placeOf).not.toHaveBeenCalled();
  traces.live.within(placeOf, () => {
    for (let at = 0; at < 3; at++) traces.live.add({ name: 'one', startTime: at, endTime: at });
  });
  expect(placeOf).toHaveBeenCalledTimes(1);
});

test('a line of the log arrives with the span of its step', async () => {
  const exported = openLogExport(
    { thread, onDropped: () => undefined },
    logExportFrom({ OTEL_LOGS_EXPORTER: 'otlp', OTEL_BLRP_SCHEDULE_DELAY: '20' }),
  );
  const about = { run_id: runId, step_id: 'step_1', trace_id: place.trace_id };
  exported?.write(JSON.stringify({ level: 40, time: 5, msg: 'of a step', ...about, err: { message: 'x' } }));
  exported?.write('no JSON');
  exported?.write(JSON.stringify({ level: 30, time: 6, msg: 'of a run', run_id: runId, trace_id: place.trace_id }));
  await expect.poll(() => receiver.logs.length, within).toBe(2);
  const spanOf = (what: string): string => hash('sha256', `${runId}/${what}`).slice(0, 16);
  expect(receiver.logs).toMatchObject([
    { body: 'of a step', severity: 'warn', trace_id: place.trace_id, span_id: spanOf('step_1') },
    { body: 'of a run', severity: 'info', trace_id: place.trace_id, span_id: spanOf('run') },
  ]);
  expect(receiver.logs[0]?.attributes).toMatchObject({ ...about, err: '{"message":"x"}' });
  await exported?.stop();
});

test('a dying thread fails its waiting requests; the next request starts another thread', async () => {
  receiver.behave('hang');
  traces.live.within(
    () => place,
    () => traces.live.add({ name: 'lost', startTime: 1, endTime: 2 }),
  );
  await expect.poll(() => receiver.requests, within).toBe(1);
  await expect(breakThread()).rejects.toThrow('planted');
  await expect.poll(() => dropped, within).toBe(1);
  receiver.behave('ok');
  traces.live.within(
    () => place,
    () => traces.live.add({ name: 'kept', startTime: 1, endTime: 2 }),
  );
  await expect.poll(() => receiver.spans.map(({ name }) => name), within).toEqual(['kept']);
  expect(dropped).toBe(1);
});

test('an error and a line of the thread come back as they were', async () => {
  await expect(thread.ask('nothing', undefined)).rejects.toThrow('no answer to nothing');
  const part = `data:text/javascript,export const openPart = ({ logger }) => ({ async fail() {
    logger.warn({ run_id: 'run_1', err: Object.assign(new Error('inner'), { code: 'EINNER' }) }, 'a line');
    throw Object.assign(new TypeError('outer'), { code: 'EOUTER' });
  } })`;
  await thread.ask('load', part);
  await expect(thread.ask('fail', undefined)).rejects.toMatchObject({ message: 'outer', code: 'EOUTER' });
  const err = expect.objectContaining({ message: 'inner', code: 'EINNER' });
  expect(lines).toEqual([{ run_id: 'run_1', err }]);
});

test('a request that is given up is canceled in the thread', async () => {
  const part = `data:text/javascript,export const openPart = ({ report }) => ({
    wait: (_, signal) => new Promise(() => signal.addEventListener('abort', () => report('given up')))
  })`;
  await thread.ask('load', part);
  const canceled = Promise.withResolvers<void>();
  thread.on('given up', () => canceled.resolve());
  const ending = new AbortController();
  const asked = thread.ask('wait', undefined, ending.signal);
  ending.abort(new Error('no time'));
  await expect(asked).rejects.toThrow('no time');
  await canceled.promise;
});
