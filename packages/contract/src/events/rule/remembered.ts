import { approvalIdSchema, callerKindSchema, effectSchema, event, payloadSchema, ruleIdSchema, z } from '../event.ts';

/** A call decided from now on without a question: exactly these parameters but those left out, in a run or in a tenant. */
export const rememberedRuleSchema = z.strictObject({
  rule_id: ruleIdSchema,
  scope: z.enum(['run', 'policy']),
  decision: z.literal('reject').optional().describe('The call is rejected. Without it: approved'),
  message: z.string().optional().describe('With `decision`: why, for the planner of each rejected call'),
  call_digest: z.string().describe('Digest of toolset, tool, arguments but those left out, effect and hosts'),
  toolset: z.string(),
  tool: z.string(),
  args: payloadSchema,
  leaves_out: z.array(z.string()).optional().describe('Arguments in which calls under the rule may differ'),
  effect: effectSchema,
  reaches: z.array(z.string()).optional(),
  expires_at: z.iso.datetime(),
  by: z.string(),
  kind: callerKindSchema,
});
export type RememberedRule = z.infer<typeof rememberedRuleSchema>;

export const ruleRemembered = event('rule.remembered', {
  data: { ...rememberedRuleSchema.shape, approval_id: approvalIdSchema },
  line({ data: { rule_id, decision, tool, scope, expires_at, by } }) {
    const where = scope === 'run' ? 'in this run' : 'in all runs of the tenant';
    const what = decision === 'reject' ? 'is rejected without a question' : 'needs no decision';
    return `${rule_id}: the same ${tool} call ${what} ${where} until ${expires_at}, by ${by}`;
  },
});
