import { healthSchema, readinessSchema } from '@holdpoint/contract/wire';
import { probeWrite } from '@holdpoint/engine/redis';
import type { App, ServerDeps } from '../../deps.ts';
import { checkSpace } from '../runs/check-space.ts';
import { readPeriodic } from './read-periodic.ts';
import { readWorkers } from './read-workers.ts';

/** For supervisors: /healthz answers while the process is up, /readyz while the process can take requests. */
export function probeRoutes(
  app: App,
  deps: Pick<ServerDeps, 'openEngine' | 'redis' | 'logger' | 'now' | 'space'>,
): void {
  const open = { tags: ['operations'] };
  app.get(
    '/healthz',
    {
      config: { access: 'open' },
      logLevel: 'warn',
      schema: { ...open, operationId: 'health', summary: 'The process is up', response: { 200: healthSchema } },
    },
    async () => ({ status: 'ok' as const }),
  );
  app.get(
    '/readyz',
    {
      config: { access: 'open' },
      logLevel: 'warn',
      schema: {
        ...open,
        operationId: 'ready',
        summary: 'Redis takes writes, and the disk has space',
        description:
          '503 when it does not; `code` says which: `unavailable`, `redis_timeout`, `redis_full`, `redis_read_only`, … 507 `storage_full` when the disk has no space for more runs. Without a worker the answer is still 200: runs are accepted and wait.',
        response: { 200: readinessSchema },
      },
    },
    async () => {
      await probeWrite(deps.redis, deps.now());
      checkSpace(deps);
      const [workers, sweep] = await Promise.all([readWorkers(deps), readPeriodic(deps, 'sweep')]);
      return { status: 'ready' as const, workers: workers.length, sweep };
    },
  );
}
