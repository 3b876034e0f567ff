import { type Periodic, stuckSchema } from '@holdpoint/contract/wire';
import type { PeriodicWork } from '@holdpoint/engine';
import type { ApiDeps, App } from '../../deps.ts';

/** GET /v1/stuck: what the sweeper repaired, and the states of the active runs. Reads every active run. */
export function readStuckRoute(app: App, deps: Pick<ApiDeps, 'engine'>): void {
  const schema = {
    tags: ['operations'],
    operationId: 'stuck',
    summary: 'Count the repairs of the sweeper and the states of active runs',
    response: { 200: stuckSchema },
  };
  app.get('/v1/stuck', { schema }, async () => {
    const runs: Record<string, number> = {};
    const paused: Record<string, number> = {};
    for await (const run of deps.engine.reconciler.activeRuns()) {
      runs[run.status] = (runs[run.status] ?? 0) + 1;
      if (run.status !== 'paused') continue;
      const code = run.reason?.code ?? 'unknown';
      paused[code] = (paused[code] ?? 0) + 1;
    }
    return {
      repairs: await deps.engine.reconciler.repairs(),
      ...{ runs, paused },
      sweep: await readPeriodic(deps, 'sweep'),
      maintenance: await readPeriodic(deps, 'maintenance'),
    };
  });
}

export async function readPeriodic({ engine }: Pick<ApiDeps, 'engine'>, name: PeriodicWork): Promise<Periodic> {
  const last = await engine.reconciler.lastDone(name);
  if (last === undefined) return { last_at: null, overdue: false };
  return { last_at: last.worker === null ? null : new Date(last.at).toISOString(), overdue: last.overdue };
}
