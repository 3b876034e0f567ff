import { z } from 'zod';
import { givenLimitsSchema } from '../limits.ts';
import { planSchema } from '../plan.ts';
import { policySchema } from '../policy.ts';
import { validatorsSchema } from '../run-spec.ts';
import { prioritySchema } from '../vocabulary.ts';
import { labelsSchema, runSchema } from './run.ts';

const stepReference = z
  .union([z.int().min(0), z.string().min(1).max(100)])
  .describe("The last step that is kept: its id, or its `number` in the list of the run's steps. 0: none is");

/** POST /v1/runs/{id}/fork: a new run that goes on after a step of this one. What is left out is as it was. */
export const forkRunSchema = z
  .strictObject({
    from_step: stepReference,
    title: z.string().min(1).max(200).optional(),
    plan: planSchema.optional().describe('Of a scripted run: the groups that are kept must be as they were'),
    model: z.string().min(1).max(200).optional().describe('Of a run with a prompt'),
    policy: policySchema.optional(),
    limits: givenLimitsSchema.optional(),
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
    .describe('Undo although a step had effects outside of the workspace, which stay as they are'),
});
export type UndoRun = z.input<typeof undoRunSchema>;

/** POST /v1/runs/{id}/retry: of a failed, canceled or paused run. */
export const retryRunSchema = z.strictObject({
  from_step: z
    .union([z.int().min(1), z.string().min(1).max(100)])
    .optional()
    .describe(
      'The first step that is made again: its id or its `number`. Default: the first of the last turn that did not succeed',
    ),
  keep_external_effects: z
    .boolean()
    .default(false)
    .describe('Make steps again although they had effects outside of the workspace, which stay as they are'),
  accept_new_version: z.boolean().default(false).describe('As of resume'),
});
export type RetryRun = z.input<typeof retryRunSchema>;

export const undoneSchema = z
  .strictObject({
    run: runSchema,
    undone: z.array(z.string()).describe('Ids of the steps that were undone'),
    restored: z.boolean().describe('The files are as they were; false: a worker has yet to bring them back'),
  })
  .meta({ id: 'Undone' });
export type Undone = z.infer<typeof undoneSchema>;
