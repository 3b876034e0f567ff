import { createHash } from 'node:crypto';
import type { EndedSpans, LoggedEvent, TraceSpan } from '@holdpoint/contract';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { submitRun } from '../commands/submit-run.ts';
import { telemetryCursorKey, telemetryKey } from '../log/keys.ts';
import { readLog } from '../log/read-log.ts';
import type { TelemetryPort } from '../ports/index.ts';
import { connect } from '../redis/connect.ts';
import { deliverAll, inMemoryWorker, specOf, startTestEngine, type TestEngine } from '../testing/index.ts';
import { startTelemetryFollower } from './start-telemetry-follower.ts';
import type { Fold } from './telemetry-follower.ts';

let engine: TestEngine;
beforeAll(async () => {
  engine = await startTestEngine();
});
beforeEach(() => engine.deps.redis.flushall());
afterAll(() => engine.stop());

/** One span per event: the follower is the subject here. */
const openFold = (runId: string): Fold => ({
  traceId: idOf(runId, 32),
  take: (event) => [spanOf(event)],
});
const idOf = (text: string, length: number): string => createHash('sha256').update(text).digest('hex').slice(0, length);
const spanOf = ({ id, time, type, seq }: LoggedEvent): TraceSpan => ({
  ...{ span_id: idOf(id, 16), parent_id: null, kind: 'workspace', name: type },
  ...{ start: time, end: time, status: 'unset', attributes: { seq }, events: [], links: [] },
});

async function addRun(): Promise<string> {
  const worker = inMemoryWorker(engine);
  const { runId } = await submitRun(worker.deps, { spec: specOf([[{ args: { effect: 'read' } }]]), by: 'ada' });
  await deliverAll(worker.deps);
  return runId;
}

/** Starts a follower like another process. Keeps what it is handed. */
function start({ take = async () => {}, now = Date.now }: Partial<TelemetryPort> & { now?: () => number } = {}) {
  const { subscriber, state, close } = connect(engine.address, engine.deps.logger);
  const batches: EndedSpans[] = [];
  const port: TelemetryPort = {
    async take(batch, signal) {
      await take(batch, signal);
      batches.push(...batch);
    },
  };
  const follower = startTelemetryFollower({
    ...{ redis: state, subscriber, logger: engine.deps.logger, now, openFold, ports: [port] },
    ...{ everyMs: 10, lostMs: 400 },
  });
  const seqs = (runId: string) => batches.filter(({ run_id }) => run_id === runId).flatMap(({ spans }) => spans);
  return {
    seqs: (runId: string) => seqs(runId).map(({ attributes }) => attributes.seq),
    async stop() {
      await follower.stop();
      await close();
    },
  };
}
const lengthOf = async (runId: string): Promise<number> => (await readLog(engine.deps.redis, runId)).length;
const upTo = (length: number): number[] => Array.from({ length }, (_, at) => at + 1);
const within = { timeout: 60_000 };

test('each span is handed over once, over several batches and holders', async () => {
  const first = start();
  await expect.poll(() => engine.deps.redis.exists(telemetryKey), within).toBe(1);
  const runId = await addRun();
  const length = await lengthOf(runId);
  await expect.poll(() => first.seqs(runId), within).toEqual(upTo(length));
  await first.stop();

  const between = await addRun();
  const second = start();
  const after = await addRun();
  for (const id of [between, after]) {
    await expect.poll(() => second.seqs(id).length, within).toBe(await lengthOf(id));
    expect(second.seqs(id)).toEqual(upTo(await lengthOf(id)));
  }
  expect(second.seqs(runId)).toEqual([]);
  await second.stop();
});

test('spans that the dead holder had not sent come from the next one', async () => {
  const hanging = Promise.withResolvers<void>();
  const first = start({ take: () => hanging.promise });
  await expect.poll(() => engine.deps.redis.exists(telemetryKey), within).toBe(1);
  const runId = await addRun();
  // The first one keeps its lock while it lives, as a frozen process does not.
  await engine.deps.redis.set('hp:lock:telemetry', 'another');
  const second = start();
  await expect.poll(() => second.seqs(runId).length, within).toBe(await lengthOf(runId));
  hanging.resolve();
  await first.stop();
  await second.stop();
  expect(Number(await engine.deps.redis.get(telemetryCursorKey(runId)))).toBe(await lengthOf(runId));
  expect(await engine.deps.redis.ttl(telemetryCursorKey(runId))).toBeGreaterThan(30 * 86_400);
});

test('what happened before telemetry was on, or while it was off, is not handed over', async () => {
  const before = await addRun();
  const first = start({ now: () => Date.now() + 1 });
  await expect.poll(() => engine.deps.redis.exists(telemetryKey), within).toBe(1);
  const during = await addRun();
  await expect.poll(() => first.seqs(during).length, within).toBeGreaterThan(0);
  await first.stop();
  expect(first.seqs(before)).toEqual([]);

  const off = await addRun();
  const hourLater = () => Date.now() + 3_600_000;
  const second = start({ now: hourLater });
  const since = async () => Number(await engine.deps.redis.hget(telemetryKey, 'since'));
  await expect.poll(since, within).toBeGreaterThan(Date.now() + 3_000_000);
  await second.stop();
  expect(second.seqs(off)).toEqual([]);
});
