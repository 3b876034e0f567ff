import { healthSchema, readinessSchema } from '@holdpoint/client/wire/operation';
import type { ApiDeps, App } from '../../deps.ts';
import { readPeriodic } from './read-periodic.ts';
import { readWorkers } from './read-workers.ts';

/** For supervisors: /healthz says that the process is up, /readyz that it can take requests. */
export function probeRoutes(app: App, deps: Pick<ApiDeps, 'redis' | 'logger'>): void {
  const open = { tags: ['operations'], security: [] };
  app.get(
    '/healthz',
    {
      logLevel: 'warn',
      schema: { ...open, operationId: 'health', summary: 'The process is up', response: { 200: healthSchema } },
    },
    async () => ({ status: 'ok' as const }),
  );
  app.get(
    '/readyz',
    {
      logLevel: 'warn',
      schema: {
        ...open,
        operationId: 'ready',
        summary: 'Redis answers',
        description: '503 `unavailable` when it does not. No worker is no failure: runs are taken, and wait.',
        response: { 200: readinessSchema },
      },
    },
    async () => {
      await deps.redis.ping();
      const [workers, sweep] = await Promise.all([readWorkers(deps), readPeriodic(deps, 'sweep')]);
      return { status: 'ready' as const, workers: workers.length, sweep };
    },
  );
}
