import { z } from 'zod';
import { givenLimitsSchema } from '../limits.ts';
import { narrowedShape } from '../permissions.ts';
import { planSchema } from '../plan.ts';
import { givenPolicySchema } from '../policy.ts';
import { validatorsSchema } from '../run-spec.ts';
import { prioritySchema } from '../vocabulary.ts';
import { labelsSchema, runSchema } from './run.ts';

const stepReference = z
  .union([z.int().min(0), z.string().min(1).max(100)])
  .describe("The last step to keep: its id, or its `number` in the list of the run's steps. 0: none");

/** POST /v1/runs/{id}/fork: a new run, continued after a step of this run. Absent fields keep their values. */
export const forkRunSchema = z
  .strictObject({
    from_step: stepReference,
    title: z.string().min(1).max(200).optional(),
    plan: planSchema.optional().describe('For a scripted run: kept groups must be unchanged'),
    model: z.string().min(1).max(200).optional().describe('For a run with a prompt'),
    policy: givenPolicySchema.optional(),
    limits: givenLimitsSchema.optional(),
    ...narrowedShape,
    validators: validatorsSchema.optional(),
    labels: labelsSchema.optional(),
    priority: prioritySchema.optional(),
  })
  .refine(({ plan, model }) => plan === undefined || model === undefined, {
    path: ['model'],
    error: 'a model belongs to a run with a prompt, a plan to a scripted one',
  });
export type ForkRun = z.input<typeof forkRunSchema>;
export type ForkRunBody = z.output<typeof forkRunSchema>;

/** POST /v1/runs/{id}/undo: the last steps of a paused run. */
export const undoRunSchema = z.strictObject({
  to_step: stepReference,
  keep_external_effects: z
    .boolean()
    .default(false)
    .describe('Undo steps with effects outside the workspace, too; those effects stay'),
});
export type UndoRun = z.input<typeof undoRunSchema>;

/** POST /v1/runs/{id}/retry: for a failed, canceled or paused run. */
export const retryRunSchema = z.strictObject({
  from_step: z
    .union([z.int().min(1), z.string().min(1).max(100)])
    .optional()
    .describe(
      'The first step to run again: its id or its `number`. Default: the first of the last turn that did not succeed',
    ),
  keep_external_effects: z
    .boolean()
    .default(false)
    .describe('Run steps with effects outside the workspace again, too; those effects stay'),
  accept_new_version: z.boolean().default(false).describe('See resume'),
});
export type RetryRun = z.input<typeof retryRunSchema>;

export const undoneSchema = z
  .strictObject({
    run: runSchema,
    undone: z.array(z.string()).describe('Ids of the steps that were undone'),
    restored: z.boolean().describe('The files are restored; false: a worker still has to restore them'),
  })
  .meta({ id: 'Undone' });
export type Undone = z.infer<typeof undoneSchema>;
