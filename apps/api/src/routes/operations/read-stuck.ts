import { stuckSchema } from '@holdpoint/contract/wire';
import type { App } from '../../deps.ts';
import { readPeriodic } from './read-periodic.ts';

/** GET /v1/stuck: the sweeper's repairs, and the states of the active runs, by the lists of runs. */
export function readStuckRoute(app: App): void {
  app.get(
    '/v1/stuck',
    {
      config: { access: 'queues:admin' },
      schema: {
        tags: ['operations'],
        operationId: 'stuck',
        summary: 'Count the repairs of the sweeper, the states of active runs and their places',
        response: { 200: stuckSchema },
      },
    },
    async ({ deps }) => {
      const runs: Record<string, number> = {};
      const paused: Record<string, number> = {};
      for (const { state, reason, count } of (await deps.openEngine.reconciler.totals()).active) {
        runs[state] = (runs[state] ?? 0) + count;
        if (state === 'paused') paused[reason ?? 'unknown'] = count;
      }
      const { working, asking, waiting } = await deps.openEngine.reconciler.places();
      return {
        repairs: await deps.openEngine.reconciler.repairs(),
        ...{ runs, paused, places: { working, asking, waiting } },
        sweep: await readPeriodic(deps, 'sweep'),
        maintenance: await readPeriodic(deps, 'maintenance'),
      };
    },
  );
}
