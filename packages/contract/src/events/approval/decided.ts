import { passkeyAssertionSchema } from '../../passkey.ts';
import {
  approvalEvent,
  approvalIdSchema,
  decisionKindSchema,
  payloadSchema,
  ruleIdSchema,
  snapshotIdSchema,
  z,
} from '../event.ts';
import { voteSchema } from './voted.ts';

export const decisionSchema = z.strictObject({
  decision: decisionKindSchema,
  action_digest: z.string(),
  args: payloadSchema.optional(),
  asked: payloadSchema.optional().describe('With edit: the arguments before it'),
  message: z.string().optional(),
  by: z.string(),
  votes: z.array(voteSchema).optional().describe('Where several callers had to approve: all who did'),
  made_rule: ruleIdSchema.optional().describe('The rule that was made with the decision'),
  rule_id: ruleIdSchema.optional().describe('`by` made this rule earlier, and the rule decided'),
  assertion: passkeyAssertionSchema
    .optional()
    .describe('The proof of a passkey; where several had to approve, each of `votes` has its own'),
  expired: z.literal(true).optional().describe('The deadline passed, and the policy lets the call run then'),
});

export const approvalDecided = approvalEvent('approval.decided', {
  data: {
    approval_id: approvalIdSchema,
    snapshot: snapshotIdSchema,
    ...decisionSchema.shape,
    writes: z
      .literal(true)
      .optional()
      .describe('The call will change the workspace: nothing else may change it until the call has ended'),
  },
  line: ({ data: { decision, by, message } }, { call }) =>
    `${call}: ${decision} by ${by}${message === undefined ? '' : `: ${message}`}`,
});
