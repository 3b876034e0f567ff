import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { healthKey } from '../log/index.ts';
import { redisTime } from '../redis/redis-lock.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { isOverdue, lastDone, openPeriodicWork } from './periodic-work.ts';

const engine = useTestEngine({ fresh: true });

const everyMs = 100;
const open = (workerId: string, every = everyMs) =>
  openPeriodicWork(engine.deps.redis, { name: 'sweep', workerId, everyMs: every });

/** Looks until the work was done there, and counts. */
async function untilDone(periodic: ReturnType<typeof open>): Promise<void> {
  await expect.poll(() => periodic.look(async () => {}), { interval: 20, timeout: 5000 }).toBe(true);
}

test('on a new Redis nothing is done before one interval is over, and then it is written down', async () => {
  const periodic = open('w1');
  const first = performance.now();
  expect(await periodic.look(async () => {})).toBe(false);
  expect(await lastDone(engine.deps.redis, 'sweep')).toMatchObject({ worker: null, every_ms: everyMs });
  await untilDone(periodic);
  expect(performance.now() - first).toBeGreaterThanOrEqual(everyMs);
  expect(await lastDone(engine.deps.redis, 'sweep')).toMatchObject({ worker: 'w1' });
});

test('what another worker did counts: of two that look all the time, each interval is served once', async () => {
  const workers = [open('w1', 200), open('w2', 200)];
  let done = 0;
  const until = performance.now() + 1300;
  while (performance.now() < until) {
    for (const worker of workers) await worker.look(async () => void done++);
    await delay(20);
  }
  expect(done).toBeGreaterThanOrEqual(2);
  expect(done).toBeLessThanOrEqual(6);
});

test.each([
  ['an hour ahead', 3_600_000],
  ['an hour back', -3_600_000],
])('a last time that was written with a clock %s does not put the next one off', async (_, off) => {
  const at = (await redisTime(engine.deps.redis)) + off;
  await engine.deps.redis.set(healthKey('sweep'), JSON.stringify({ at, every_ms: everyMs, worker: 'w0' }));
  const running = open('w1');
  await running.look(async () => {});
  await untilDone(running);
  expect(Math.abs(((await lastDone(engine.deps.redis, 'sweep'))?.at ?? 0) - (at - off))).toBeLessThan(60_000);
});

test('a worker that starts does at once what is past due', async () => {
  const at = (await redisTime(engine.deps.redis)) - 10 * everyMs;
  await engine.deps.redis.set(healthKey('sweep'), JSON.stringify({ at, every_ms: everyMs, worker: 'w0' }));
  expect(await open('w1').look(async () => {})).toBe(true);
});

test('a Redis that loses the record loses no schedule', async () => {
  const periodic = open('w1');
  await periodic.look(async () => {});
  await untilDone(periodic);
  await engine.deps.redis.flushall();
  await untilDone(periodic);
});

test('it is overdue after some intervals, and not before', () => {
  const last = { at: 1_000_000, every_ms: 5000, worker: 'w' };
  expect(isOverdue(last, 1_000_000 + 45_000)).toBe(false);
  expect(isOverdue(last, 1_000_000 + 51_000)).toBe(true);
});
