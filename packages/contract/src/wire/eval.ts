import { z } from 'zod';
import * as evals from '../eval.ts';
import { runIdSchema } from '../ids.ts';
import { validatorsSchema } from '../run-spec.ts';
import { integerParameter, listOf } from './page.ts';

const time = z.iso.datetime({ offset: true });

/** A set of marked runs. The file of a set has these fields. */
export const evalSetSchema = z.strictObject({
  name: evals.evalNameSchema,
  runs: z
    .array(runIdSchema)
    .min(1)
    .max(200)
    .refine((ids) => new Set(ids).size === ids.length, 'a run is there twice')
    .describe('Marked runs with a prompt'),
  budget: evals.evalBudgetSchema,
  parallel: z.int().min(1).max(16).default(1).describe('Repeats at once'),
  validators: validatorsSchema.optional().describe('In place of those of the runs'),
  models: z
    .array(z.string().min(1).max(200))
    .min(1)
    .max(10)
    .refine((models) => new Set(models).size === models.length, 'a model is there twice')
    .optional()
    .describe('provider/model. Every run is repeated with each of them'),
});
export type EvalSet = z.input<typeof evalSetSchema>;

/** PUT /v1/evals/{id}. */
export const putEvalSchema = evalSetSchema.extend({ models: evalSetSchema.shape.models.unwrap() });
export type PutEval = z.input<typeof putEvalSchema>;
export type PutEvalBody = z.output<typeof putEvalSchema>;

export const evalSchema = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    status: z.enum(['running', 'canceling', 'finished', 'canceled']),
    models: z.array(z.string()),
    budget: evals.evalBudgetSchema,
    spent: z.strictObject({ cost_usd: z.number(), steps: z.int() }).describe('By all its repeats until now'),
    parallel: z.int(),
    created_at: time,
    created_by: z.string(),
    ended_at: time.nullable(),
    canceled_by: z.string().nullable(),
    originals: z.array(evals.evalOriginalSchema).describe('The marked runs, as they were when it began'),
    repeats: z.array(evals.evalRepeatSchema).describe('Each run with each model, in this order'),
  })
  .meta({ id: 'Eval' });
export type Eval = z.infer<typeof evalSchema>;

export const listEvalsQuerySchema = z.strictObject({ limit: integerParameter(1, 200).default(50) });
/** The newest first. */
export const evalListSchema = listOf(evalSchema);
