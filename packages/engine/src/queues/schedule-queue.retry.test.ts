import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { expect, test, vi } from 'vitest';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { queuePrefix } from './queues.ts';
import { openScheduleQueue } from './schedule-queue.ts';

const engine = useTestEngine();
const job = { tenant: 'default', name: 'nightly' };

test('a schedule that keeps failing has one wake-up of the sweep beside its own', async () => {
  const { redis } = engine.deps;
  const connection = new Redis({ ...redis.options, maxRetriesPerRequest: null });
  const looks = vi.fn(() => Promise.reject(new Error('no space')));
  const wakeUps = openScheduleQueue({ redis, connection, now: Date.now, handle: looks, onFailure: () => {} });
  const queue = new Queue('schedules', { connection: redis, prefix: queuePrefix });
  const at = Date.now();
  await wakeUps.wake(job, at);
  for (let sweeps = 0; sweeps < 5; sweeps++) {
    await wakeUps.wakeOverdue(job);
    await vi.waitFor(() => expect(looks.mock.calls.length).toBeGreaterThan(sweeps));
  }
  const waiting = await queue.getJobs(['waiting', 'active', 'delayed']);
  expect(waiting.map(({ id }) => id).toSorted()).toEqual([`default/nightly@${at}`, 'default/nightly@overdue']);
  await wakeUps.close();
  await queue.close();
  connection.disconnect();
});
