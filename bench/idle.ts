/**
 * The cost of waiting: the processor time of a worker, of the API and of Redis while nothing happens, with 10 parked runs and with 10,000.
 * A held call through the API parks the first run; the others are copies of the first. The API gets no request. Linux only.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { copyRun } from '@holdpoint/engine/testing';
import { Redis } from 'ioredis';
import { bash, nextApproval, plan, startSystem } from '../tests/harness/index.ts';
import { cpuShares } from './cpu-shares.ts';

const [few, many] = [10, Number(process.env.HOLDPOINT_BENCH_RUNS ?? 10_000)];
const most = 0.01;
const measureMs = Number(process.env.HOLDPOINT_BENCH_MS ?? 50_000);
const settleMs = 70_000;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const system = await startSystem({ HOLDPOINT_LOG: 'silent' }, {});
const worker = await system.startWorker({ HOLDPOINT_LOG: 'info' });
const redis = new Redis(system.redis.address);
const pids = { worker: worker.pid, redis: system.redis.pid(), api: system.api.pid() };
try {
  const { run } = await system.client.createRun({
    plan: plan([bash('true')]),
    toolset: 'holdpoint',
    policy: { rules: [{ match: { tool: 'bash' }, action: 'hold' }] },
  });
  await nextApproval(system.client, run.id);
  await copyRun(redis, run.id, few - 1);
  await settled();
  const before = await measure(few);
  await copyRun(redis, run.id, many - few);
  const from = performance.now();
  await settled();
  say(`the first look at ${many} runs took ${((performance.now() - from) / 1000).toFixed(1)} s`);
  const after = await measure(many);
  const share = after.worker + after.redis;
  const floor = before.worker + before.redis;
  say(`worker and Redis: ${share.toFixed(4)} of a core with ${many} parked runs, ${floor.toFixed(4)} with ${few}`);
  say(`  target: at most ${most}${share <= most ? '' : '  MISSED'}`);
} finally {
  redis.disconnect();
  await system.end();
}

/** Each run was looked at, and the next look is not near. */
async function settled(): Promise<void> {
  const until = performance.now() + settleMs;
  while (performance.now() < until) {
    if ((await redis.zcount('hp:index:looks', '-inf', Date.now() + measureMs)) === 0) return;
    await pause(500);
  }
  say('  the worker has not looked at every run yet');
}

async function measure(runs: number): Promise<typeof pids> {
  const shares = await cpuShares(pids, measureMs);
  const figures = Object.entries(shares).map(([name, share]) => `${name} ${share.toFixed(4)}`);
  say(`${String(runs).padStart(6)} parked, ${(measureMs / 1000).toFixed(0)} s: ${figures.join(', ')}`);
  return shares;
}
