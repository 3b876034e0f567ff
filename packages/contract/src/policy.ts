import { z } from 'zod';
import { effectSchema, riskSchema } from './vocabulary.ts';

export const policyActionSchema = z.enum(['allow', 'hold', 'deny']);
export type PolicyAction = z.infer<typeof policyActionSchema>;

/** A rule applies when every field of `match` equals the call's; an empty match applies to every call. */
export const policySchema = z.strictObject({
  rules: z
    .array(
      z.strictObject({
        match: z.strictObject({
          effect: effectSchema.optional(),
          risk: riskSchema.optional(),
          tool: z.string().min(1).optional(),
        }),
        action: policyActionSchema,
        reason: z.string().max(500).optional(),
      }),
    )
    .max(100)
    .default([])
    .describe('The first rule that matches decides. No match: external effects are held, everything else is allowed.'),
  publish: z
    .enum(['allow', 'hold'])
    .default('allow')
    .describe('hold: a publish shows its plan and waits for a decision'),
  approval_timeout_s: z
    .int()
    .min(1)
    .max(315_360_000)
    .default(7 * 24 * 3600)
    .describe('Seconds until an open approval expires and its step settles without having run. At most ten years.'),
});
export type Policy = z.infer<typeof policySchema>;

/** The operator's policy for every run. It can only be stricter than the run's own policy. */
export const operatorPolicySchema = z.strictObject({
  rules: policySchema.shape.rules.describe(
    'The first rule that matches decides. No match: the policy of the run alone',
  ),
  publish: policySchema.shape.publish,
});
export type OperatorPolicy = z.infer<typeof operatorPolicySchema>;
