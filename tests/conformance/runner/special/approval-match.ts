import { matchesRule } from '@holdpoint/tools/cli-agent';
import { z } from 'zod';
import { callArgs, parseArgs } from './args.ts';
import type { Special } from './special.ts';

const ruleSchema = z.strictObject({
  tool: z.string(),
  pattern: z.string(),
  expired: z.boolean().default(false),
  disabled: z.boolean().optional(),
});

/** Whether a rule of the contract approves a call. */
export const approvalMatch: Special = async (_, args) => {
  const { rule, tool, args: asked } = parseArgs(callArgs.extend({ rule: ruleSchema }), args);
  const now = Date.now();
  const expires_at = new Date(now + (rule.expired ? -hour : hour)).toISOString();
  const { pattern, disabled } = rule;
  const match = matchesRule({ tool: rule.tool, pattern, expires_at, disabled }, { tool, args: asked }, now);
  return { native: { match }, ok: true, steps: [] };
};

const hour = 3_600_000;
