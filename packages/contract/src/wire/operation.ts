import { z } from 'zod';
import { givenLimitsSchema } from '../limits.ts';
import { problemSchema } from '../vocabulary.ts';
import { listOf } from './page.ts';

/** The operator's bounds on every run, read by a process at its start. */
export const boundsSchema = z.strictObject({
  policy: z.string().nullable().describe("Digest of the operator's policy in force; null: there is none"),
  policy_version: z.int().nullable().optional().describe('Its version in the store; null: it is from a file'),
  policy_problem: z
    .string()
    .nullable()
    .optional()
    .describe('Why the policy in force is not the one of its source; null: it is'),
  source_roots: z.array(z.string()).describe('HOLDPOINT_SOURCE_ROOTS; empty: every path that is not closed'),
  publish_roots: z.array(z.string()).describe('HOLDPOINT_PUBLISH_ROOTS; empty: every path that is not closed'),
  git_hosts: z
    .array(z.string())
    .default(['*'])
    .describe('HOLDPOINT_GIT_HOSTS: hosts of remote sources. `*`: every public host by https; empty: none'),
  tool_modules: z
    .array(z.strictObject({ module: z.string(), tools: z.record(z.string(), z.string()) }))
    .optional()
    .describe('HOLDPOINT_TOOLS: what each module brought, as versions by toolset and tool, such as `office.stamp`'),
});

export type Bounds = z.infer<typeof boundsSchema>;

/** The bounds of the API process. The bounds of a worker may differ. */
export const apiBoundsSchema = z
  .strictObject({
    ...boundsSchema.shape,
    ceilings: givenLimitsSchema.describe(
      'Upper bounds of the limits of a run (HOLDPOINT_LIMITS); an absent name: no ceiling',
    ),
    model: z
      .strictObject({
        name: z.string().nullable().describe('null: a prompt has to name its model'),
        problem: problemSchema.nullable().describe('Why it cannot be asked, as far as the settings say'),
      })
      .describe('The model of prompts that name none (HOLDPOINT_MODEL)'),
    sign_in: z
      .strictObject({
        issuer: z.string(),
        url: z.string(),
        problem: z.string().nullable().describe('Why people cannot sign in now; null: they can'),
        device_flow: z.boolean(),
        back_channel_logout: z.boolean(),
      })
      .nullable()
      .optional()
      .describe('The identity provider (HOLDPOINT_SIGN_IN), asked for this answer; null: there is none'),
  })
  .meta({ id: 'Bounds' });
export type ApiBounds = z.infer<typeof apiBoundsSchema>;

export const workerSlotsSchema = z
  .strictObject({
    steps: z.int(),
    tasks: z.int(),
    turns: z.int(),
    runs: z
      .int()
      .optional()
      .describe('Runs that work on their files at once, for this worker; as many as `turns` ask a model'),
  })
  .describe('How many jobs of each kind it takes at once');

/** A live worker. */
export const workerSchema = z
  .strictObject({
    id: z.string(),
    pid: z.int(),
    host: z.string(),
    version: z.string().nullable(),
    started_at: z.iso.datetime(),
    last_seen_at: z.iso.datetime(),
    concurrency: z.int(),
    active: z.array(z.string()).describe('The runs of its active jobs'),
    running: z
      .array(z.string())
      .optional()
      .describe('Its active jobs: a run and a step, task, turn or workspace, such as `run_…/step_…` or `run_…/turn 3`'),
    slots: workerSlotsSchema.optional(),
    capabilities: z.json().describe('The bounds that its sandbox enforces'),
    ceilings: givenLimitsSchema
      .optional()
      .describe('Upper bounds that it applies to every run (HOLDPOINT_LIMITS); an absent name: no ceiling'),
    bounds: boundsSchema.optional(),
    retention: z
      .strictObject({ days: z.number().nullable(), runs: z.int().nullable() })
      .optional()
      .describe('Days, and number of ended runs, for which it keeps workspaces; null: no bound'),
    loop: z
      .strictObject({
        late_ms: z.int().describe('Delay of its timers'),
        busy_ms: z.int().describe('The part of the delay in which it computed; the rest it waited for the machine'),
      })
      .optional()
      .describe('The longest block of its event loop in the last minute or two'),
    stuck: z
      .int()
      .optional()
      .describe('Jobs that it aborted and whose handlers have not returned after 10 s; they hold no place'),
    metrics: z
      .string()
      .nullable()
      .optional()
      .describe('Where its metrics are scraped, as its own host calls the address; null: nowhere'),
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

/** When the workers last did some periodic work. */
export const periodicSchema = z
  .strictObject({
    last_at: z.iso.datetime().nullable().describe('null: never on this Redis'),
    overdue: z.boolean().describe('It is long overdue: no worker does it'),
  })
  .meta({ id: 'Periodic' });
export type Periodic = z.infer<typeof periodicSchema>;

const placesSchema = z.strictObject({ used: z.int(), of: z.int() });

/** The repairs of the sweeper, and the active runs by status. */
export const stuckSchema = z
  .strictObject({
    repairs: z.record(z.string(), z.int()).describe('Number of repairs by class'),
    runs: z.record(z.string(), z.int()).describe('Active runs by status'),
    paused: z.record(z.string(), z.int()).describe('Paused runs by the code of their reason'),
    places: z
      .strictObject({
        working: placesSchema.describe('Runs that work on their files'),
        asking: placesSchema.describe('Runs that ask a model'),
        waiting: z.int().describe('Runs that stand in line for a place'),
      })
      .optional()
      .describe('Runs in progress, and the places of all workers; tenants with few runs find a quarter more'),
    sweep: periodicSchema.describe('The sweep for stuck runs'),
    maintenance: periodicSchema,
  })
  .meta({ id: 'Stuck' });
export type Stuck = z.infer<typeof stuckSchema>;

export const healthSchema = z.strictObject({ status: z.literal('ok') });
/** Redis accepts writes. Without a worker the API still accepts runs: they wait. */
export const readinessSchema = z.strictObject({
  status: z.literal('ready'),
  workers: z.int().describe('Number of live workers'),
  sweep: periodicSchema.describe('The sweep for stuck runs'),
});
export type Readiness = z.infer<typeof readinessSchema>;

export const logLevelSchema = z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent', 'default']);
export type LogLevel = z.infer<typeof logLevelSchema>;
export const logLevelChangeSchema = z
  .strictObject({
    level: logLevelSchema.describe('`default`: the level that the process was started with'),
    of: z.enum(['api', 'workers', 'all']).default('all'),
  })
  .meta({ id: 'LogLevelChange' });
export type LogLevelChange = z.input<typeof logLevelChangeSchema>;
export const logLevelReachedSchema = z
  .strictObject({
    level: logLevelSchema,
    of: z.enum(['api', 'workers', 'all']),
    processes: z
      .int()
      .describe('API and worker processes that learned of it; those that `of` leaves out are among them'),
  })
  .meta({ id: 'LogLevelReached' });
export type LogLevelReached = z.infer<typeof logLevelReachedSchema>;
