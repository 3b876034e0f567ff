import { afterEach, expect, test, vi } from 'vitest';
import { redisTime } from './redis/redis-lock.ts';
import { openSharedClock } from './shared-clock.ts';
import { useTestEngine } from './testing/use-test-engine.ts';

const engine = useTestEngine();
afterEach(() => void vi.restoreAllMocks());
const hour = 3_600_000;

test.each([3 * hour, -hour])('a process whose wall clock is off by %i ms has the time of Redis', async (shift) => {
  const right = Date.now;
  vi.spyOn(Date, 'now').mockImplementation(() => right() + shift);
  const { redis } = engine.deps;
  const clock = await openSharedClock(redis);
  const before = await redisTime(redis);
  const now = clock.now();
  // Far less than the shift; a busy machine answers late.
  expect(Math.abs(now - before)).toBeLessThan(hour / 2);
  clock.stop();
});
