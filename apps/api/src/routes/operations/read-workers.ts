import { givenLimitsSchema } from '@holdpoint/contract';
import { boundsSchema, type Worker, workerListSchema, workerSlotsSchema } from '@holdpoint/contract/wire';
import { workerIndex, workerKey } from '@holdpoint/engine';
import { z } from 'zod';
import type { ApiDeps, App } from '../../deps.ts';

/** A worker's report, sent every few seconds. Not strict: a newer worker may report more. */
const heartbeatSchema = z.object({
  id: z.string(),
  pid: z.int(),
  host: z.string(),
  started_at: z.iso.datetime(),
  concurrency: z.int(),
  active: z.array(z.string()),
  running: z.array(z.string()).optional(),
  slots: z.object(workerSlotsSchema.shape).optional(),
  capabilities: z.json().default(null),
  version: z.string().nullable().default(null),
  ceilings: givenLimitsSchema.optional(),
  bounds: z.object(boundsSchema.shape).optional(),
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
        response: { 200: workerListSchema },
      },
    },
    async ({ deps }) => ({ data: await readWorkers(deps) }),
  );
}

/** The live workers, last seen first. A dead worker stays in the index for a while, but its own key has expired. */
export async function readWorkers({ redis, logger }: Pick<ApiDeps, 'redis' | 'logger'>): Promise<Worker[]> {
  const index = await redis.zrevrange(workerIndex, 0, -1, 'WITHSCORES');
  const seen = index.flatMap((id, at) => (at % 2 === 0 ? [{ id, at: Number(index[at + 1]) }] : []));
  const workers = await Promise.all(
    seen.map(async ({ id, at }): Promise<Worker[]> => {
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
