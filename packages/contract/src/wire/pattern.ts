import { z } from 'zod';
import { policyNameSchema, policyRuleSchema } from '../policy.ts';
import { integerParameter } from './page.ts';
import { replayPageSchema, ruleProposalSchema } from './policy.ts';

const least = integerParameter(1, 10_000).default(3).describe('Approvals that a pattern needs');

/** GET /v1/approvals/{id}/pattern. */
export const patternQuerySchema = z.strictObject({
  since: z.iso
    .datetime({ offset: true })
    .optional()
    .describe('Runs that were created after this time. Default: 30 days ago'),
  least,
});

/** Rules that would have let through calls like a decided one, and what they would have changed. */
export const patternSchema = z
  .strictObject({
    approval_id: z.string(),
    since: z.iso.datetime().describe('Send it back to confirm'),
    least: z.int(),
    policy: z
      .strictObject({ name: z.string(), version: z.int() })
      .nullable()
      .describe(
        'The policy of the run, in its newest version: the rules would go before its rules, as its next version. null: the run has none with a name, so they would go before its own rules, into a new policy',
      ),
    proposal: ruleProposalSchema
      .extend({ digest: z.string().describe('Covers the rules and all that they would be put into. Confirm with it') })
      .nullable()
      .describe('null: there is no pattern, and `why_not` says why'),
    why_not: z.string().nullable(),
    replay: replayPageSchema
      .omit({ damaged: true, next_cursor: true })
      .extend({
        damaged: z.int().describe('Runs that cannot be read'),
        complete: z.boolean().describe('These are all runs since then; otherwise the newest'),
      })
      .nullable()
      .describe('The policy with the rules, judged on past calls'),
  })
  .meta({ id: 'ApprovalPattern' });
export type ApprovalPattern = z.infer<typeof patternSchema>;

/** POST /v1/approvals/{id}/pattern. */
export const confirmPatternSchema = z.strictObject({
  digest: z.string().describe('`proposal.digest` of what was shown'),
  rules: z.array(policyRuleSchema).min(1).describe('`proposal.rules` as they were shown'),
  since: z.iso.datetime({ offset: true }),
  least: z.int().min(1).max(10_000).default(3),
  name: policyNameSchema.optional().describe('Names the new policy, where `policy` is null'),
});
export type ConfirmPattern = z.input<typeof confirmPatternSchema>;
