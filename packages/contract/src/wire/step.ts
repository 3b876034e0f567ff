import { z } from 'zod';
import { capabilityReportSchema } from '../capabilities.ts';
import { stepIdSchema } from '../ids.ts';
import { payloadSchema } from '../payload.ts';
import { verdictSchema } from '../policy.ts';
import { effectSchema, problemSchema, riskSchema, stepStatusSchema } from '../vocabulary.ts';
import { cursorOf, integerParameter, listOf, listParameter, pageOf } from './page.ts';

const time = z.iso.datetime();

const stepShape = {
  id: z.string(),
  run_id: z.string(),
  turn: z.int(),
  index: z.int().describe('Index among the steps of its turn, from 0'),
  name: z.string().nullable(),
  tool: z.string(),
  effect: effectSchema,
  risk: riskSchema,
  status: stepStatusSchema,
  attempts: z.int(),
  approval_id: z.string().nullable(),
  worker: z.string().nullable(),
  snapshot: z.string().nullable().describe('The snapshot that the step left'),
  error: problemSchema.nullable(),
  cancel: z
    .strictObject({ by: z.string(), at: time, message: z.string().nullable() })
    .nullable()
    .describe('Who canceled the call, and when. It may still run, or have ended by itself at that moment'),
  duration_ms: z.number().nullable(),
  created_at: time,
  started_at: time.nullable(),
  settled_at: time.nullable(),
};

/** A step in a list: large arguments and results are references with the beginning of their JSON text. */
export const stepSchema = z
  .strictObject({
    ...stepShape,
    number: z
      .int()
      .nullable()
      .describe('The number that fork and undo take: from 1, without undone steps. null: the step was undone'),
    args: payloadSchema,
    result: payloadSchema
      .nullable()
      .describe('The beginning of the result where it is large; null: the step is not settled'),
  })
  .meta({ id: 'Step' });
export type Step = z.infer<typeof stepSchema>;

/** A step with complete arguments and result. */
export const stepDetailSchema = z
  .strictObject({
    ...stepShape,
    turn: z.int().nullable().describe('null: the call waits behind other calls that its open run received'),
    args: z.json(),
    result: z
      .json()
      .describe("What the toolset's contract says of the call, whatever settled it; null also before it is settled"),
    reads: z
      .array(z.string())
      .nullable()
      .describe(
        'Its command line was allowed because it only reads, and runs with these programs alone and its files read-only; null: it runs as any other',
      ),
    verdict: verdictSchema
      .nullable()
      .describe('What the policies said when the call was planned, and the rule that decided'),
  })
  .meta({ id: 'StepDetail' });
export type StepDetail = z.infer<typeof stepDetailSchema>;

/** POST /v1/steps/{id}/cancel. */
export const cancelStepSchema = z.strictObject({ message: z.string().max(10_000).optional() });

export const stepPageSchema = pageOf(stepSchema);

/** Most bytes of a step in a list of summaries, as JSON. */
export const mostSummaryBytes = 300;

/** A step in a line of a list: its title is cut to keep the whole within 300 bytes. */
export const stepSummarySchema = z
  .strictObject({
    id: z.string(),
    number: stepSchema.shape.number,
    turn: z.int(),
    tool: z.string().describe('Cut where it is longer than 64 bytes'),
    title: z.string().describe('Its name, or the first text among its arguments'),
    effect: effectSchema,
    status: stepStatusSchema,
    error: z.string().nullable().describe('The code of its error'),
    started_at: time.nullable(),
    settled_at: time.nullable(),
  })
  .meta({ id: 'StepSummary' });
export type StepSummary = z.infer<typeof stepSummarySchema>;

export const stepSummaryPageSchema = pageOf(stepSummarySchema);

/** GET /v1/runs/{id}/steps. */
export const listStepsQuerySchema = z.strictObject({
  limit: integerParameter(1, 1000).default(100),
  cursor: cursorOf(stepIdSchema).optional(),
  view: z
    .enum(['full', 'summary'])
    .default('full')
    .describe('summary: at most 300 bytes a step, without arguments and results'),
  order: z.enum(['asc', 'desc']).default('asc').describe('asc: in the order they were planned'),
  from: z
    .union([integerParameter(1, 1_000_000_000), stepIdSchema])
    .optional()
    .describe('The step that the list begins with: its number or id'),
  turn: integerParameter(1, 1_000_000_000).optional().describe('Only the steps of this turn'),
  status: listParameter(stepStatusSchema).optional().describe('One or more, separated by commas'),
  tool: z
    .string()
    .min(1)
    .optional()
    .meta({ type: 'array', items: { type: 'string' } })
    .transform((text) => text?.split(','))
    .describe('One or more, separated by commas'),
});

/** An attempt at a step. */
export const attemptSchema = z
  .strictObject({
    number: z.int(),
    worker: z.string(),
    started_at: time,
    ended_at: time.nullable(),
    end: z
      .enum(['succeeded', 'failed', 'killed', 'timed_out', 'held', 'asked', 'retried', 'indeterminate'])
      .nullable()
      .describe('null while it runs'),
    reason: problemSchema.nullable(),
    duration_ms: z.number().nullable(),
    capabilities: capabilityReportSchema
      .nullable()
      .describe("The sandbox's report of what it enforced; null: there is no report"),
  })
  .meta({ id: 'Attempt' });
export type Attempt = z.infer<typeof attemptSchema>;

export const attemptListSchema = listOf(attemptSchema);
