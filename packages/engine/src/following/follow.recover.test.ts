import type { EndedSpans } from '@holdpoint/contract';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { submitRun } from '../commands/submit-run.ts';
import { logKey, notificationChannel, telemetryCursorKey, telemetryKey } from '../log/keys.ts';
import { readLog } from '../log/read-log.ts';
import type { TelemetryPort } from '../ports/index.ts';
import { connect } from '../redis/connect.ts';
import { deliverAll, inMemoryWorker, specOf, startTestEngine, type TestEngine } from '../testing/index.ts';
import { soundTrace } from '../testing/sound-trace.ts';
import { startTelemetryFollower } from './start-telemetry-follower.ts';
import { openTelemetryFollower } from './telemetry-follower.ts';

let engine: TestEngine;
beforeAll(async () => {
  engine = await startTestEngine();
});
beforeEach(() => engine.deps.redis.flushall());
afterAll(() => engine.stop());

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
  const warnings: object[] = [];
  const logger = { ...engine.deps.logger, warn: (fields: object) => void warnings.push(fields) };
  const port: TelemetryPort = {
    async take(batch, signal) {
      await take(batch, signal);
      batches.push(...batch);
    },
  };
  const follower = startTelemetryFollower({
    ...{ redis: state, subscriber, logger, everyMs: 10, lostMs: 400 },
    open: () => openTelemetryFollower({ redis: state, logger, now, from: now(), ports: [port] }),
  });
  return {
    warnings,
    spans: (runId: string) => batches.filter(({ run_id }) => run_id === runId).flatMap(({ spans }) => spans),
    async stop() {
      await follower.stop();
      await close();
    },
  };
}
const spansOf = async (runId: string) => soundTrace(await readLog(engine.deps.redis, runId));
/** Waits until it has all spans of a run that has ended. */
const expectAll = async (follower: ReturnType<typeof start>, runId: string): Promise<void> => {
  const all = await spansOf(runId);
  await expect.poll(() => follower.spans(runId).length, within).toBe(all.length);
  expect(follower.spans(runId)).toEqual(all);
};
const within = { timeout: 60_000 };

test('each span is handed over once, over several batches and holders', async () => {
  const first = start();
  await expect.poll(() => engine.deps.redis.exists(telemetryKey), within).toBe(1);
  const runId = await addRun();
  await expectAll(first, runId);
  await first.stop();

  const between = await addRun();
  const second = start();
  const after = await addRun();
  for (const id of [between, after]) await expectAll(second, id);
  expect(second.spans(runId)).toEqual([]);
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
  await expectAll(second, runId);
  hanging.resolve();
  await first.stop();
  await second.stop();
  expect(Number(await engine.deps.redis.get(telemetryCursorKey(runId)))).toBe(
    (await readLog(engine.deps.redis, runId)).length,
  );
  expect(await engine.deps.redis.ttl(telemetryCursorKey(runId))).toBeGreaterThan(30 * 86_400);
});

test('what happened before telemetry was on, or while it was off, is not handed over', async () => {
  const before = await addRun();
  const first = start({ now: () => Date.now() + 1 });
  await expect.poll(() => engine.deps.redis.exists(telemetryKey), within).toBe(1);
  const during = await addRun();
  await expectAll(first, during);
  await first.stop();
  expect(first.spans(before)).toEqual([]);

  const off = await addRun();
  const hourLater = () => Date.now() + 3_600_000;
  const second = start({ now: hourLater });
  const since = async () => Number(await engine.deps.redis.hget(telemetryKey, 'since'));
  await expect.poll(since, within).toBeGreaterThan(Date.now() + 3_000_000);
  await second.stop();
  expect(second.spans(off)).toEqual([]);
});

test.each([
  ['no JSON', 'no event'],
  ['no event', '{"type":7}'],
  ['an event of a later version', '["run.dreamt",1767225600000,{}]'],
  ['an event without what it says', '["step.started",1767225600000]'],
])('a log with %s holds no other run up', async (_what, text) => {
  const follower = start();
  await expect.poll(() => engine.deps.redis.exists(telemetryKey), within).toBe(1);
  const runId = await addRun();
  await expectAll(follower, runId);
  await engine.deps.redis.xadd(logKey(runId), '1000-0', 'event', text);
  await engine.deps.redis.publish(notificationChannel(runId), '');
  const cursor = await engine.deps.redis.get(telemetryCursorKey(runId));
  const other = await addRun();
  await expectAll(follower, other);
  await follower.stop();
  expect(follower.warnings).toContainEqual(expect.objectContaining({ run_id: runId }));
  // An error without a run is one of the whole follower, which then begins again.
  for (const warning of follower.warnings) expect(warning).toHaveProperty('run_id', runId);
  expect(await engine.deps.redis.get(telemetryCursorKey(runId))).toBe(cursor);
});
