import { z } from 'zod';
import { capabilityReportSchema } from '../capabilities.ts';
import { stepIdSchema } from '../ids.ts';
import { payloadSchema } from '../payload.ts';
import { verdictSchema } from '../policy.ts';
import { effectSchema, problemSchema, riskSchema, stepStatusSchema } from '../vocabulary.ts';
import { cursorOf, integerParameter, listOf, pageOf } from './page.ts';

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

/** One step: arguments and result are complete. */
export const stepDetailSchema = z
  .strictObject({
    ...stepShape,
    turn: z.int().nullable().describe('null: the call waits behind other calls that its open run received'),
    args: z.json(),
    result: z
      .json()
      .describe("What the toolset's contract says of the call, whatever settled it; null also before it is settled"),
    verdict: verdictSchema
      .nullable()
      .describe('What the policies said when the call was planned, and the rule that decided'),
  })
  .meta({ id: 'StepDetail' });
export type StepDetail = z.infer<typeof stepDetailSchema>;

export const stepPageSchema = pageOf(stepSchema);

export const listStepsQuerySchema = z.strictObject({
  limit: integerParameter(1, 1000).default(200),
  cursor: cursorOf(stepIdSchema).optional(),
});

/** One attempt at a step. */
export const attemptSchema = z
  .strictObject({
    number: z.int(),
    worker: z.string(),
    started_at: time,
    ended_at: time.nullable(),
    end: z
      .enum(['succeeded', 'failed', 'killed', 'timed_out', 'held', 'retried', 'indeterminate'])
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
