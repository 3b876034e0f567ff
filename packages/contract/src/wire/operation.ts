import { z } from 'zod';
import { givenLimitsSchema } from '../limits.ts';
import { listOf } from './page.ts';

/** What of the operator's binds every run, as a program was started with it. */
export const boundsSchema = z.strictObject({
  policy: z.string().nullable().describe("Digest of the operator's policy (HOLDPOINT_POLICY); null: there is none"),
  source_roots: z.array(z.string()).describe('HOLDPOINT_SOURCE_ROOTS; empty: everything that is not closed'),
  publish_roots: z.array(z.string()).describe('HOLDPOINT_PUBLISH_ROOTS; empty: everything that is not closed'),
});

export type Bounds = z.infer<typeof boundsSchema>;

/** What the API was started with: what it refuses is told from what the workers refuse. */
export const apiBoundsSchema = z
  .strictObject({
    ...boundsSchema.shape,
    ceilings: givenLimitsSchema.describe('What no run may ask for (HOLDPOINT_LIMITS); without a name: no ceiling'),
  })
  .meta({ id: 'Bounds' });
export type ApiBounds = z.infer<typeof apiBoundsSchema>;

/** A worker that is alive. */
export const workerSchema = z
  .strictObject({
    id: z.string(),
    pid: z.int(),
    host: z.string(),
    version: z.string().nullable(),
    started_at: z.iso.datetime(),
    last_seen_at: z.iso.datetime(),
    concurrency: z.int(),
    active: z.array(z.string()).describe('What it works on now'),
    capabilities: z.json().describe('What its sandbox enforces'),
    ceilings: givenLimitsSchema
      .optional()
      .describe('What it lets no run pass (HOLDPOINT_LIMITS); without a name: no ceiling'),
    bounds: boundsSchema.optional(),
    retention: z
      .strictObject({ days: z.number().nullable(), runs: z.int().nullable() })
      .optional()
      .describe('How long, and for how many ended runs, it keeps workspaces; null: no bound'),
    loop: z
      .strictObject({
        late_ms: z.int().describe('How late it came back to its timers'),
        busy_ms: z.int().describe('How much of that time it computed; the rest it waited for the machine'),
      })
      .optional()
      .describe('The longest time of the last minute or two in which its event loop was held up'),
  })
  .meta({ id: 'Worker' });
export type Worker = z.infer<typeof workerSchema>;
export const workerListSchema = listOf(workerSchema);

export const queueSchema = z
  .strictObject({
    name: z.string(),
    backlog: z.int().describe('Jobs that wait for a worker'),
    active: z.int(),
    parked: z.int().describe('Delayed jobs: steps that wait for a decision, and retries in backoff'),
  })
  .meta({ id: 'Queue' });
export type Queue = z.infer<typeof queueSchema>;
export const queueListSchema = listOf(queueSchema);

/** When the workers last did what they do again and again. */
export const periodicSchema = z
  .strictObject({
    last_at: z.iso.datetime().nullable().describe('null: not since this Redis began'),
    overdue: z.boolean().describe('It should have been done long ago: no worker does it'),
  })
  .meta({ id: 'Periodic' });
export type Periodic = z.infer<typeof periodicSchema>;

/** What the sweeper has put right, and how the active runs stand. */
export const stuckSchema = z
  .strictObject({
    repairs: z.record(z.string(), z.int()).describe('How often, by class of what was stuck'),
    runs: z.record(z.string(), z.int()).describe('Active runs by status'),
    paused: z.record(z.string(), z.int()).describe('Paused runs by the code of their reason'),
    sweep: periodicSchema.describe('The look for what is stuck'),
    maintenance: periodicSchema,
  })
  .meta({ id: 'Stuck' });
export type Stuck = z.infer<typeof stuckSchema>;

export const healthSchema = z.strictObject({ status: z.literal('ok') });
/** Redis takes writes. Without a worker the API still takes runs: they wait. */
export const readinessSchema = z.strictObject({
  status: z.literal('ready'),
  workers: z.int().describe('How many are alive'),
  sweep: periodicSchema.describe('The look for what is stuck'),
});
export type Readiness = z.infer<typeof readinessSchema>;
