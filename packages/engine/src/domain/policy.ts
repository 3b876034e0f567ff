import { z } from 'zod';
import { type Effect, effectSchema, type Risk, riskSchema } from './vocabulary.ts';

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
    .describe('hold: what a publish would do is shown first, and it waits for a decision'),
  approval_timeout_s: z
    .int()
    .min(1)
    .max(315_360_000)
    .default(7 * 24 * 3600)
    .describe('Seconds until an open approval expires and its step settles without having run. At most ten years.'),
});
export type Policy = z.infer<typeof policySchema>;

export interface PolicyVerdict {
  action: PolicyAction;
  reason: string;
}

/** What the policy says of a call, before anything becomes runnable. Pure. */
export function judge(policy: Policy, call: { tool: string; effect: Effect; risk: Risk }): PolicyVerdict {
  const found = matchingRule(policy.rules, call);
  if (found) {
    const { action, reason } = found.rule;
    return { action, reason: reason ?? `rule ${found.number} of the run's policy: ${action}` };
  }
  if (call.effect === 'external')
    return { action: 'hold', reason: 'effects outside the workspace are held by default' };
  return { action: 'allow', reason: 'nothing outside the staging workspace can change' };
}

/** The first rule that matches, and its number from 1. */
export function matchingRule(
  rules: Policy['rules'],
  call: { tool: string; effect: Effect; risk: Risk },
): { rule: Policy['rules'][number]; number: number } | undefined {
  const index = rules.findIndex(
    ({ match }) =>
      (match.effect === undefined || match.effect === call.effect) &&
      (match.risk === undefined || match.risk === call.risk) &&
      (match.tool === undefined || match.tool === call.tool),
  );
  const rule = rules[index];
  return rule && { rule, number: index + 1 };
}
