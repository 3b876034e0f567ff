import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { queueNames } from '@holdpoint/engine';
import { queuePrefix } from '@holdpoint/engine/worker';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { approve, bash, finished, plan, until, useSystem } from '../harness/index.ts';

const system = useSystem({ workers: 0 });
const preload = new URL('../chaos/faults/shift-clock.ts', import.meta.url).href;
const hour = 3_600_000;

test.each([3 * hour, -10 * 60_000])(
  'a worker whose clock is off by %i ms ends no wait of another worker early, and repairs nothing',
  async (shift) => {
    const { client } = system;
    const clock = join(system.directory, `clock${shift}`);
    writeFileSync(clock, String(shift));
    const first = await system.startWorker();
    const held = async (rule: object) => {
      const rules = [{ match: { tool: 'bash' }, action: 'hold' as const, ...rule }];
      const body = { plan: plan([bash('echo made >> made')]), policy: { rules, approval_timeout_s: 600 } };
      return (await client.createRun(body)).run.id;
    };
    const runs = [await held({}), await held({ on_expiry: 'allow' })];
    await until('both wait', async () => (await client.listApprovals()).data.length === runs.length);
    await first.signal('SIGTERM');
    const worker = await system.startWorker({ CHAOS_CLOCK: clock }, preload);
    const redis = new Redis(system.redis.address);
    const deliveries = async () =>
      Promise.all(
        runs.map(async (runId) => {
          const [step] = (await client.listSteps(runId)).data;
          return Number(await redis.hget(`${queuePrefix}:${queueNames.steps}:${step?.id}`, 'ats'));
        }),
      );
    // Several sweeps look at what is due.
    await pause(4000);
    for (const runId of runs) {
      expect(await client.getRun(runId)).toMatchObject({ status: 'waiting', pending_approvals: 1 });
      expect(existsSync(join(system.tree(runId), 'made'))).toBe(false);
    }
    // A job that comes back at once keeps the worker and Redis busy for nothing.
    for (const count of await deliveries()) expect(count).toBeLessThan(10);
    redis.disconnect();
    for (const approval of (await client.listApprovals()).data) await approve(client, approval);
    for (const runId of runs) {
      expect(await finished(client, runId)).toMatchObject({ status: 'succeeded' });
      const events = (await client.listEvents(runId, { limit: 500 })).data;
      expect(events.filter(({ type }) => type === 'run.repaired')).toEqual([]);
    }
    await worker.signal('SIGKILL');
  },
);
