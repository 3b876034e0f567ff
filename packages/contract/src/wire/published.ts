import { z } from 'zod';
import {
  type PublishPlan,
  publishedSchema,
  publishPlanSchema,
  publishTargetSchema,
  withoutHidden,
} from '../publish.ts';
import { pullRequestOptionsSchema } from '../pull-request.ts';
import { validatorResultSchema } from '../validation.ts';
import { problemSchema, publicationStatusSchema } from '../vocabulary.ts';

export { type PublishPlan, publishedSchema, publishPlanSchema };

const { branch, author, message, include_ignored } = publishTargetSchema.shape;

/** A name or a message with such characters shows other text than git keeps. */
const isVisible = (text = ''): boolean => withoutHidden(text) === text;
const visible = { error: 'expected no control characters and no characters that change the direction of the text' };

/** The options of a publish. */
const options = {
  message: message.refine(isVisible, visible).optional().describe("Message of the commit. Default: the run's title"),
  branch: branch.refine(isVisible, visible),
  author: author.refine((given) => isVisible(given?.name) && isVisible(given?.email), visible),
  include_ignored: include_ignored.describe(
    'Also publish what the ignore rules of a git source match. Default: the setting of the run (`publish`), which is false',
  ),
  pull_request: pullRequestOptionsSchema
    .refine(({ title }) => isVisible(title), { ...visible, path: ['title'] })
    .refine(({ base }) => isVisible(base), { ...visible, path: ['base'] })
    .optional()
    .describe(
      'For a remote git source: once the branch is pushed, a pull request is opened from it, or the one that this run opened before is updated',
    ),
};

/** POST /v1/runs/{id}/publish. */
export const publishSchema = z.strictObject({
  ...options,
  snapshot: z
    .string()
    .optional()
    .describe('The reviewed snapshot; the publish is refused when the run has another one'),
});
export type Publish = z.infer<typeof publishSchema>;

/** POST /v1/runs/{id}/publish/dry-run. */
export const dryRunSchema = z.strictObject(options);
export type DryRun = z.infer<typeof dryRunSchema>;

/** The result of a dry run. */
export const publishPreviewSchema = z
  .strictObject({
    run_id: z.string(),
    ...publishPlanSchema.shape,
    validators: z.array(z.string()).describe('Commands that must succeed first'),
    needs_approval: z
      .boolean()
      .describe("The run's policy holds a publish, or some of its changes cannot be published"),
  })
  .meta({ id: 'PublishPreview' });
export type PublishPreview = z.infer<typeof publishPreviewSchema>;

/**
 * The publication of a change set. `requested` and `discarding`: a worker still has to do it; `parked`: the publication waits for a
 * decision.
 */
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

/** GET /v1/runs/{id}/validation: the last results of the validators. */
export const validationSchema = z
  .strictObject({
    run_id: z.string(),
    snapshot: z.string().describe('The snapshot that they ran on'),
    passed: z.boolean(),
    results: z.array(validatorResultSchema),
  })
  .meta({ id: 'Validation' });
export type Validation = z.infer<typeof validationSchema>;
