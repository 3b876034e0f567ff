import { event, payloadOf, type Resolution, z } from '../event.ts';

/** The decisions of people about a publish. */
export const publishReleaseSchema = z.strictObject({
  approved: z.string().optional().describe('Digest of what was approved'),
  confirmed: z.literal(true).optional().describe('A passkey proves the approval'),
  resolutions: payloadOf<Resolution[]>().optional(),
});

export const workspacePublishReleased = event('workspace.publish_released', {
  data: publishReleaseSchema.shape,
  line: ({ data }) => (data.resolutions === undefined ? '' : 'with a version of each file in conflict'),
});
