import { passkeyAssertionSchema } from '../../passkey.ts';
import * as event from '../event.ts';
import { voteSchema } from './voted.ts';

export const decisionSchema = event.z.strictObject({
  decision: event.decisionKindSchema,
  action_digest: event.z.string(),
  args: event.payloadSchema.optional(),
  asked: event.payloadSchema.optional().describe('With edit: the arguments before it'),
  message: event.z.string().optional(),
  by: event.z.string(),
  votes: event.z.array(voteSchema).optional().describe('Where several callers had to approve: all who did'),
  made_rule: event.ruleIdSchema.optional().describe('The rule that was made with the decision'),
  rule_id: event.ruleIdSchema.optional().describe('`by` made this rule earlier, and the rule decided'),
  assertion: passkeyAssertionSchema
    .optional()
    .describe('The proof of a passkey; where several had to approve, each of `votes` has its own'),
  expired: event.z.literal(true).optional().describe('The deadline passed, and the policy lets the call run then'),
});

export const approvalDecided = event.approvalEvent('approval.decided', {
  data: {
    approval_id: event.approvalIdSchema,
    snapshot: event.snapshotIdSchema,
    ...decisionSchema.shape,
    writes: event.z
      .literal(true)
      .optional()
      .describe('The call will change the workspace: nothing else may change it until the call has ended'),
  },
  line: ({ data: { decision, by, message } }, { call }) =>
    `${call}: ${decision} by ${by}${message === undefined ? '' : `: ${message}`}`,
});
