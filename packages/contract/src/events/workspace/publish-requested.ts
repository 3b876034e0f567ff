import { pullRequestTargetSchema } from '../../pull-request.ts';
import { event, short, snapshotIdSchema, z } from '../event.ts';

/** The request behind a publish. */
export const publishRequestSchema = z.strictObject({
  snapshot: snapshotIdSchema,
  message: z.string(),
  branch: z.string().optional(),
  author: z.strictObject({ name: z.string(), email: z.string() }).optional(),
  include_ignored: z.literal(true).optional(),
  pull_request: pullRequestTargetSchema.optional(),
  only_validate: z.literal(true).optional().describe('Runs the validators on the snapshot, and publishes nothing'),
  number: z.int().min(1).optional().describe('From 1: each publish of the run has a number'),
});

/** A publish request for the current snapshot. */
export type PublishOptions = Omit<z.infer<typeof publishRequestSchema>, 'snapshot' | 'number'>;

export const workspacePublishRequested = event('workspace.publish_requested', {
  data: { ...publishRequestSchema.shape, by: z.string() },
  line: ({ data: { snapshot, branch, pull_request: pull, by } }) =>
    `${short(snapshot)}${branch === undefined ? '' : ` to branch ${branch}`}${pull === undefined ? '' : ` and a pull request at ${pull.repository}`} by ${by}`,
});
