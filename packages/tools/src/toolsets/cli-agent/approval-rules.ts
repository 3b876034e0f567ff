import type { Json, PolicyRule } from '@holdpoint/contract';
import { z } from 'zod';
import { cliAgentTools } from './tools.ts';

/** A rule of the contract. `pattern`: a regular expression on the parameters as JSON. */
export interface ApprovalRule {
  tool: string;
  pattern: string;
  /** ISO 8601. @default never */
  expires_at?: string | undefined;
  disabled?: boolean | undefined;
}

interface AskedTool {
  tool: string;
  args: Readonly<Record<string, Json>>;
}

/** Compact JSON with the keys in the order of the tool's schema; unknown keys come last. */
export function parametersText({ tool, args }: AskedTool): string {
  const input = cliAgentTools.find(({ name }) => name === tool)?.input;
  const names = input instanceof z.ZodObject ? Object.keys(input.shape) : [];
  const others = Object.keys(args).filter((name) => !names.includes(name));
  const ordered = [...names.filter((name) => Object.hasOwn(args, name)), ...others];
  return JSON.stringify(Object.fromEntries(ordered.map((name) => [name, args[name]])));
}

/** Whether a rule approves a call. An expired rule, a disabled rule and an invalid regular expression approve nothing. */
export function matchesRule(
  { tool, pattern, expires_at, disabled }: ApprovalRule,
  call: AskedTool,
  now: number,
): boolean {
  if (disabled === true || tool !== call.tool) return false;
  // An unreadable time counts as past.
  if (expires_at !== undefined && !(Date.parse(expires_at) > now)) return false;
  try {
    return new RegExp(pattern).test(parametersText(call));
  } catch {
    return false;
  }
}

/** The rule made by "always": exactly these parameters. */
export const alwaysRule = (call: AskedTool): ApprovalRule => ({
  tool: call.tool,
  pattern: `^${parametersText(call).replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`,
});

/**
 * The rule made by "always" in the form of a policy rule. The gate then lets the call pass without a question; for a command each part of
 * the line needs such a rule, and only the whole line counts as the same call. A rule of a policy has no expiry; a remembered rule has an
 * expiry.
 */
export const alwaysPolicyRule = ({ tool, args }: AskedTool): PolicyRule => ({
  name: `always-${tool}`,
  match: { toolset: 'cli-agent', tool, args: { '': { equals: { ...args } } } },
  action: 'allow',
  reason: 'a person always allows exactly these parameters',
});
