import { passkeyAssertionSchema } from '../../passkey.ts';
import { approvalEvent, approvalIdSchema, callerKindSchema, z } from '../event.ts';

/** A vote for an approval with several voters. A vote counts for exactly the action of its digest. */
export const voteSchema = z.strictObject({
  by: z.string(),
  kind: callerKindSchema,
  action_digest: z.string(),
  message: z.string().optional(),
  at: z.iso.datetime(),
  assertion: passkeyAssertionSchema.optional().describe('Where the approval asks for a passkey'),
});
export type Vote = z.infer<typeof voteSchema>;

export const approvalVoted = approvalEvent('approval.voted', {
  data: {
    approval_id: approvalIdSchema,
    by: z.string(),
    votes: z.array(voteSchema).describe('All votes by now; the last one is new'),
  },
  line: ({ data }, { call }) => `${call}: approved by ${data.by}; more callers have to approve`,
});
