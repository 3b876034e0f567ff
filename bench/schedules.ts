/**
 * The cost of schedules between their occurrences: the processor time of the API and of Redis with 10 schedules and with 10,000, whose next
 * occurrences are far away, and the time from an occurrence that is due to its run. Linux only.
 *
 * npm run bench -- schedules [--seconds 40]
 */
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openScheduleStore } from '@holdpoint/engine';
import { Redis } from 'ioredis';
import { bash, plan, startSystem } from '../tests/harness/index.ts';
import { cpuShares } from './cpu-shares.ts';
import { say } from './figures.ts';

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: { seconds: { type: 'string', default: '40' } },
});
const ms = Number(values.seconds) * 1000;
const [few, many] = [10, 10_000];
const most = 0.01;

const system = await startSystem({ HOLDPOINT_LOG: 'silent' }, {});
const redis = new Redis(system.redis.address);
const store = openScheduleStore(redis);
const pids = { api: system.api.pid(), redis: system.redis.pid() };
try {
  await system.client.putSchedule('first', { cron: '0 3 1 1 *', run: { plan: plan([bash('true')]) } });
  await copies(1, few);
  const floor = await measure(few);
  await copies(few, many);
  const share = await measure(many);
  say(`API and Redis: ${share.toFixed(4)} of a core with ${many} schedules, ${floor.toFixed(4)} with ${few}`);
  say(`  target: at most ${most} more${share - floor <= most ? '' : '  MISSED'}`);
  say(`a due occurrence among ${many} schedules had its run after ${await untilSubmitted()} ms`);
} finally {
  redis.disconnect();
  await system.end();
}

/** Schedules like the first, due as far away. */
async function copies(from: number, to: number): Promise<void> {
  const found = await store.find({ tenant: 'default', name: 'first' });
  if (found === undefined) throw new Error('no schedule');
  const wakeAt = Date.parse(found.state.next ?? '');
  for (let at = from; at < to; at++)
    await store.put({ after: undefined, state: { ...found.state, name: `copy-${at}` }, wakeAt });
}

async function measure(count: number): Promise<number> {
  await pause(5000);
  const { api, redis } = await cpuShares(pids, ms);
  say(`${String(count).padStart(6)} schedules, ${values.seconds} s: API ${api.toFixed(4)}, Redis ${redis.toFixed(4)}`);
  return api + redis;
}

async function untilSubmitted(): Promise<number> {
  const from = performance.now();
  await system.client.triggerSchedule('first');
  while ((await system.client.listOccurrences('first')).length === 0) await pause(5);
  return Math.round(performance.now() - from);
}
