import { humanForm, jsonForm, matchesRule } from '@holdpoint/tools';
import { z } from 'zod';
import { callArgs, parseArgs } from './args.ts';
import { makeCalls, type Special } from './special.ts';

const matchArgs = callArgs.extend({
  rule: z.strictObject({
    tool: z.string(),
    pattern: z.string(),
    expired: z.literal(true).optional(),
    disabled: z.literal(true).optional(),
  }),
});

/** Whether a rule of the contract approves a call. */
export const approvalMatch: Special = async (_scene, args) => {
  const { rule, tool, args: given } = parseArgs(matchArgs, args);
  const { expired, ...kept } = rule;
  const now = Date.now();
  const expires_at = expired && new Date(now - 1).toISOString();
  return { native: { match: matchesRule({ ...kept, expires_at }, { tool, args: given }, now) }, ok: true, steps: [] };
};

const formatArgs = callArgs.extend({ format: z.enum(['human', 'json']) });

/** The contract's output for the result of a call. */
export const outputForm: Special = async (scene, args) => {
  const { format, ...call } = parseArgs(formatArgs, args);
  const steps = await makeCalls(scene, [call]);
  const [result] = steps.map((step) => step.result);
  const text = format === 'human' ? humanForm(result, { directory: '/workspace' }) : jsonForm(result, call);
  const native = format === 'human' ? { text } : JSON.parse(text);
  return { native, ok: scene.adapter.ok(result ?? null), steps };
};
