import { z } from 'zod';
import { type PublishPlan, publishedSchema, publishPlanSchema, publishTargetSchema } from '../publish.ts';
import { validatorResultSchema } from '../validation.ts';
import { problemSchema, publicationStatusSchema } from '../vocabulary.ts';

export { type PublishPlan, publishedSchema, publishPlanSchema };

const { branch, author, message, include_ignored } = publishTargetSchema.shape;

/** What a publish may be given. */
const wish = {
  message: message.optional().describe("Of the commit. Default: the run's title"),
  branch,
  author,
  include_ignored: include_ignored.describe(
    'With what the ignore rules of a git source match. Default: as the run says (`publish`), which is without',
  ),
};

/** POST /v1/runs/{id}/publish. */
export const publishSchema = z.strictObject({
  ...wish,
  snapshot: z.string().optional().describe('The snapshot that was reviewed; another one by now is refused'),
});
export type Publish = z.infer<typeof publishSchema>;

/** POST /v1/runs/{id}/publish/dry-run. */
export const dryRunSchema = z.strictObject(wish);
export type DryRun = z.infer<typeof dryRunSchema>;

/** What a publish would do now. */
export const publishPreviewSchema = z
  .strictObject({
    run_id: z.string(),
    ...publishPlanSchema.shape,
    validators: z.array(z.string()).describe('Commands that must pass first'),
    needs_approval: z.boolean().describe("The run's policy holds a publish, or what it made cannot all be published"),
  })
  .meta({ id: 'PublishPreview' });
export type PublishPreview = z.infer<typeof publishPreviewSchema>;

/** What became of a change set. `requested` and `discarding`: a worker has not done it yet; `parked`: it waits for a decision. */
export const publicationSchema = z
  .strictObject({
    run_id: z.string(),
    status: publicationStatusSchema,
    snapshot: z.string().nullable(),
    published: publishedSchema.nullable(),
    reason: problemSchema.nullable(),
    approval_id: z.string().nullable(),
  })
  .meta({ id: 'Publication' });
export type Publication = z.infer<typeof publicationSchema>;

/** GET /v1/runs/{id}/validation: what the validators last said. */
export const validationSchema = z
  .strictObject({
    run_id: z.string(),
    snapshot: z.string().describe('What they ran on'),
    passed: z.boolean(),
    results: z.array(validatorResultSchema),
  })
  .meta({ id: 'Validation' });
export type Validation = z.infer<typeof validationSchema>;
