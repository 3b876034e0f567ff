import { stuckSchema } from '@holdpoint/contract/wire';
import { activeIndex, repairsKey } from '@holdpoint/engine/log/keys';
import { readRun } from '@holdpoint/engine/log/read-state';
import type { ApiDeps, App } from '../../deps.ts';
import { readPeriodic } from './read-periodic.ts';

/** GET /v1/stuck: what the sweeper has put right, and how the active runs stand. Looks at every active run. */
export function readStuckRoute(app: App, deps: Pick<ApiDeps, 'redis'>): void {
  app.get(
    '/v1/stuck',
    {
      schema: {
        tags: ['operations'],
        operationId: 'stuck',
        summary: 'What was stuck and put right, and how the active runs stand',
        response: { 200: stuckSchema },
      },
    },
    async () => {
      const repairs = Object.entries(await deps.redis.hgetall(repairsKey));
      const runs: Record<string, number> = {};
      const paused: Record<string, number> = {};
      for (const id of await deps.redis.zrange(activeIndex, '0', '-1')) {
        const run = await readRun(deps.redis, id);
        if (!run) continue;
        runs[run.status] = (runs[run.status] ?? 0) + 1;
        if (run.status !== 'paused') continue;
        const code = run.reason?.code ?? 'unknown';
        paused[code] = (paused[code] ?? 0) + 1;
      }
      return {
        repairs: Object.fromEntries(repairs.map(([name, count]) => [name, Number(count)])),
        ...{ runs, paused },
        sweep: await readPeriodic(deps, 'sweep'),
        maintenance: await readPeriodic(deps, 'maintenance'),
      };
    },
  );
}
