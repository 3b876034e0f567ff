import { z } from 'zod';
import { ruleIdSchema } from '../ids.ts';
import { effectSchema } from '../vocabulary.ts';
import { cursorOf, integerParameter, pageOf } from './page.ts';

const time = z.iso.datetime();

/** A call decided by a remembered rule: exactly these parameters but those left out. */
const rememberedCall = {
  toolset: z.string(),
  tool: z.string(),
  args: z.json(),
  effect: effectSchema,
  reaches: z.array(z.string()).nullable().describe('The hosts that the call may reach; null: it reaches none'),
  leaves_out: z
    .array(z.string())
    .describe(
      'Arguments in which such calls may differ, because they do not change what the call does: words for people, and the time limit of a command that only reads',
    ),
  call_digest: z
    .string()
    .describe(
      'Digest of all of these, without the arguments left out. The rule does not decide a call with another one',
    ),
};

/** The rule made from an approval by `remember`. */
export const proposedRuleSchema = z.strictObject({
  ...rememberedCall,
  tenant: z.string().describe('With `policy` the rule holds in all runs of this tenant; with `run` in this run'),
  expires_s: z.int().describe('Seconds until it expires, unless the decision says otherwise'),
  needs_external: z
    .boolean()
    .describe('The call has effects outside the workspace: to remember an approval needs `remember_external`'),
});

const rememberedDecisionSchema = z.enum(['approve', 'reject']);

/** A remembered rule about the call of an approval, in short. */
export const ruleInForceSchema = z.strictObject({
  rule_id: z.string(),
  decision: rememberedDecisionSchema,
  scope: z.enum(['run', 'policy']),
  created_by: z.string(),
  created_at: time,
  expires_at: time,
});

/** A remembered rule. */
export const rememberedRuleSchema = z
  .strictObject({
    id: z.string(),
    scope: z.enum(['run', 'policy']).describe('`run`: in the run alone; `policy`: in all runs of the tenant'),
    run_id: z.string().describe('The run in which it was made'),
    approval_id: z.string().describe('The approval that it was made of'),
    decision: rememberedDecisionSchema.describe('How such calls are decided. A rejection wins over every approval'),
    message: z
      .string()
      .nullable()
      .describe('Why, for the planner of each rejected call. null: none was given, or an approval'),
    ...rememberedCall,
    created_at: time,
    created_by: z.string(),
    expires_at: time,
    in_force: z.boolean(),
    revoked_by: z.string().nullable(),
  })
  .meta({ id: 'RememberedRule' });
export type RememberedRule = z.infer<typeof rememberedRuleSchema>;
export const rememberedRulePageSchema = pageOf(rememberedRuleSchema);

/** GET /v1/rules. */
export const listRulesQuerySchema = z.strictObject({
  run_id: z.string().optional().describe('Only rules that were made in this run'),
  limit: integerParameter(1, 200).default(50),
  cursor: cursorOf(ruleIdSchema).optional(),
});
