import { z } from 'zod';
import { runIdSchema } from './ids.ts';
import { markSchema } from './run-mark.ts';

const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';
export const evalIdSchema = z.string().regex(new RegExp(`^eval_${uuid}$`), 'expected eval_ and a UUIDv7');

export const evalNameSchema = z
  .string()
  .regex(/^[^\p{Cc}\p{Cf}]{1,100}$/u, 'expected 1 to 100 characters on one line, all of them visible');

/** All repeats together. A repeat may begin while something is left, and its own limits are what is left. */
export const evalBudgetSchema = z
  .strictObject({
    max_cost_usd: z.number().positive().max(100_000).optional().describe('The price of each model has to be known'),
    max_steps: z.int().min(1).max(1_000_000).optional(),
  })
  .refine(({ max_cost_usd, max_steps }) => max_cost_usd !== undefined || max_steps !== undefined, {
    error: 'give max_cost_usd, max_steps or both: an evaluation without a budget is refused',
  });
export type EvalBudget = z.infer<typeof evalBudgetSchema>;

/** What became of a repeat. */
export const evalOutcomes = ['passed', 'failed', 'stopped', 'refused', 'skipped'] as const;
export const evalOutcomeSchema = z
  .enum(evalOutcomes)
  .describe(
    'passed: it succeeded, and every validator passed. failed: it failed, or a validator did. stopped: it reached a limit or was canceled. refused: it could not begin. skipped: the budget was spent, or the evaluation was canceled',
  );
export type EvalOutcome = z.infer<typeof evalOutcomeSchema>;

export const evalFiguresSchema = z.strictObject({
  cost_usd: z.number(),
  steps: z.int(),
  turns: z.int(),
  holds: z.int().describe('Calls that waited for a decision'),
});
export type EvalFigures = z.infer<typeof evalFiguresSchema>;

/** A marked run, as it was when the evaluation began. */
export const evalOriginalSchema = z.strictObject({
  run_id: runIdSchema,
  title: z.string(),
  status: z.string(),
  model: z.string().nullable(),
  mark: markSchema,
  note: z.string().optional(),
  ...evalFiguresSchema.shape,
});
export type EvalOriginal = z.infer<typeof evalOriginalSchema>;

export const evalRepeatSchema = z.strictObject({
  of: runIdSchema.describe('The marked run'),
  model: z.string(),
  run_id: runIdSchema.optional().describe('The fork; absent: not begun'),
  status: z.enum(['waiting', 'forking', 'running', 'validating', 'canceling', 'done']),
  outcome: evalOutcomeSchema.optional(),
  reason: z.string().optional().describe('Why it did not pass'),
  ...evalFiguresSchema.shape,
});
export type EvalRepeat = z.infer<typeof evalRepeatSchema>;
