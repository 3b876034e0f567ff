import { healthSchema, readinessSchema } from '@holdpoint/contract/wire';
import { probeWrite } from '@holdpoint/engine/redis';
import type { ApiDeps, App } from '../../deps.ts';
import { checkSpace } from '../runs/new-run.ts';
import { readPeriodic } from './read-stuck.ts';
import { readWorkers } from './read-workers.ts';

/** For supervisors: /healthz says that the process is up, /readyz that it can take requests. */
export function probeRoutes(app: App, deps: Pick<ApiDeps, 'engine' | 'redis' | 'logger' | 'now' | 'space'>): void {
  const open = { tags: ['operations'], security: [] };
  const healthOperation = {
    ...open,
    operationId: 'health',
    summary: 'The process is up',
    response: { 200: healthSchema },
  };
  app.get('/healthz', { logLevel: 'warn', schema: healthOperation }, async () => ({ status: 'ok' as const }));
  const readyOperation = {
    ...open,
    operationId: 'ready',
    summary: 'Redis takes writes, and the disk has space',
    description:
      '503 when it does not; `code` says which: `unavailable`, `redis_timeout`, `redis_full`, `redis_read_only`, … 507 `storage_full` when the disk has no space for more runs. Without a worker the answer is still 200: runs are accepted and wait.',
    response: { 200: readinessSchema },
  };
  app.get('/readyz', { logLevel: 'warn', schema: readyOperation }, async () => {
    await probeWrite(deps.redis, deps.now());
    checkSpace(deps);
    const [workers, sweep] = await Promise.all([readWorkers(deps), readPeriodic(deps, 'sweep')]);
    return { status: 'ready' as const, workers: workers.length, sweep };
  });
}
