import { stuckSchema } from '@holdpoint/contract/wire';
import type { App } from '../../deps.ts';
import { readPeriodic } from './read-periodic.ts';

/** GET /v1/stuck: what the sweeper repaired, and the states of the active runs. Reads every active run. */
export function readStuckRoute(app: App): void {
  app.get(
    '/v1/stuck',
    {
      config: { access: 'queues:admin' },
      schema: {
        tags: ['operations'],
        operationId: 'stuck',
        summary: 'Count the repairs of the sweeper and the states of active runs',
        response: { 200: stuckSchema },
      },
    },
    async ({ deps }) => {
      const runs: Record<string, number> = {};
      const paused: Record<string, number> = {};
      for await (const run of deps.openEngine.reconciler.activeRuns()) {
        runs[run.status] = (runs[run.status] ?? 0) + 1;
        if (run.status !== 'paused') continue;
        const code = run.reason?.code ?? 'unknown';
        paused[code] = (paused[code] ?? 0) + 1;
      }
      return {
        repairs: await deps.openEngine.reconciler.repairs(),
        ...{ runs, paused },
        sweep: await readPeriodic(deps, 'sweep'),
        maintenance: await readPeriodic(deps, 'maintenance'),
      };
    },
  );
}
