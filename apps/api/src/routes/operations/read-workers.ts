import { givenLimitsSchema } from '@holdpoint/contract';
import * as wire from '@holdpoint/contract/wire';
import { type PeriodicWork, workerIndex, workerKey } from '@holdpoint/engine';
import { probeWrite } from '@holdpoint/engine/redis';
import { z } from 'zod';
import type { ApiDeps, App, ServerDeps } from '../../deps.ts';
import { checkSpace } from '../runs/create-run.ts';

/** A worker's report, sent every few seconds. Not strict: a newer worker may report more. */
const heartbeatSchema = z.object({
  id: z.string(),
  pid: z.int(),
  host: z.string(),
  started_at: z.iso.datetime(),
  concurrency: z.int(),
  active: z.array(z.string()),
  running: z.array(z.string()).optional(),
  slots: z.object(wire.workerSlotsSchema.shape).optional(),
  capabilities: z.json().default(null),
  version: z.string().nullable().default(null),
  ceilings: givenLimitsSchema.optional(),
  bounds: z.object(wire.boundsSchema.shape).optional(),
  retention: z.object({ days: z.number().nullable(), runs: z.int().nullable() }).optional(),
  loop: z.object({ late_ms: z.int(), busy_ms: z.int() }).optional(),
  stuck: z.int().optional(),
  metrics: z.string().nullable().optional(),
});

export function readWorkersRoute(app: App): void {
  app.get(
    '/v1/workers',
    {
      config: { access: 'queues:admin' },
      schema: {
        tags: ['operations'],
        operationId: 'listWorkers',
        summary: 'List the workers that are alive',
        response: { 200: wire.workerListSchema },
      },
    },
    async ({ deps }) => ({ data: await readWorkers(deps) }),
  );
}

/** The live workers, last seen first. A dead worker stays in the index for a while, but its own key has expired. */
export async function readWorkers({ redis, logger }: Pick<ApiDeps, 'redis' | 'logger'>): Promise<wire.Worker[]> {
  const index = await redis.zrevrange(workerIndex, 0, -1, 'WITHSCORES');
  const seen = index.flatMap((id, at) => (at % 2 === 0 ? [{ id, at: Number(index[at + 1]) }] : []));
  const workers = await Promise.all(
    seen.map(async ({ id, at }): Promise<wire.Worker[]> => {
      const text = await redis.get(workerKey(id));
      if (text === null) return [];
      const parsed = heartbeatSchema.safeParse(fromJson(text));
      if (parsed.success) return [{ ...parsed.data, last_seen_at: new Date(at).toISOString() }];
      logger.warn({ worker: id, err: parsed.error }, 'the heartbeat of a worker cannot be read');
      return [];
    }),
  );
  return workers.flat();
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function readPeriodic(
  { openEngine }: Pick<ServerDeps, 'openEngine'>,
  name: PeriodicWork,
): Promise<wire.Periodic> {
  const last = await openEngine.reconciler.lastDone(name);
  if (last === undefined) return { last_at: null, overdue: false };
  return { last_at: last.worker === null ? null : new Date(last.at).toISOString(), overdue: last.overdue };
}

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
      schema: { ...open, operationId: 'health', summary: 'The process is up', response: { 200: wire.healthSchema } },
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
        response: { 200: wire.readinessSchema },
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
        response: { 200: wire.stuckSchema },
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
