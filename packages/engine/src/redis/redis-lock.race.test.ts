import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { openRedisLock } from './redis-lock.ts';

const engine = useTestEngine({ fresh: true });

const key = 'hp:lock:test';
const open = (lostMs = 60_000) => openRedisLock(engine.deps.redis, { key, lostMs });

test('one process of many does the work, then the next one can', async () => {
  const all = Array.from({ length: 10 }, () => open());
  const work = Promise.withResolvers<void>();
  let running = 0;
  const tries = all.map((one) =>
    one.tryRun(async () => {
      running += 1;
      await work.promise;
    }),
  );
  await expect.poll(() => running).toBe(1);
  expect(await open().tryRun(async () => {})).toBe(false);
  work.resolve();
  expect((await Promise.all(tries)).filter((done) => done)).toHaveLength(1);
  expect(await open().tryRun(async () => {})).toBe(true);
});

test('work that throws releases the lock', async () => {
  await expect(open().tryRun(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(await open().tryRun(async () => {})).toBe(true);
});

test('the lock of a dead holder is taken over, whatever other clocks say', async () => {
  await engine.deps.redis.set(key, 'left by a dead process');
  const one = open(100);
  expect(await one.tryRun(async () => {})).toBe(false);
  await expect.poll(() => one.tryRun(async () => {}), { interval: 30 }).toBe(true);
});

test('a holder that works for longer keeps its lock', async () => {
  const holding = open(80).tryRun(() => delay(600));
  await expect.poll(() => engine.deps.redis.get(key)).not.toBeNull();
  const other = open(80);
  const tries: boolean[] = [];
  while ((await engine.deps.redis.get(key)) !== null) tries.push(await other.tryRun(async () => {}));
  expect(tries.slice(0, -1)).not.toContain(true);
  expect(await holding).toBe(true);
});

test('a holder that lost its lock gets an abort signal', async () => {
  let aborted = false;
  await open(80).tryRun(async (signal) => {
    await engine.deps.redis.set(key, 'another');
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    aborted = true;
  });
  expect(aborted).toBe(true);
  expect(await engine.deps.redis.get(key)).toBe('another');
});
