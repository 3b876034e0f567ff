import type { PolicyRule, ToolsetRules } from '@holdpoint/contract';
import { type CompiledPolicy, compilePolicy } from './compile-policy.ts';

/**
 * The rules of a toolset: behind them a hold rule for each tool with a question on every call, and last the rules for calls without a
 * question.
 */
export interface ToolsetPolicy {
  /** `toolset:` and the name of the toolset. */
  name: string;
  version?: undefined;
  policy: CompiledPolicy;
  /** The index of the first question. */
  asksFrom: number;
  /** The index of the first rule with power over the hold rules of the built-in policy. */
  autoFrom: number;
}

export const toolsetPrefix = 'toolset:';

const known = new WeakMap<ToolsetRules, ToolsetPolicy>();

/** Compiled once per object. The object must not change afterwards. @returns undefined when the toolset says nothing */
export function toolsetPolicy(toolset: string, says: ToolsetRules): ToolsetPolicy | undefined {
  const { rules, asks, auto = [] } = says;
  if (rules.length === 0 && asks.length === 0 && auto.length === 0) return undefined;
  const made = known.get(says) ?? {
    name: `${toolsetPrefix}${toolset}`,
    policy: compilePolicy({ rules: [...rules, ...asks.map(question), ...auto] }),
    asksFrom: rules.length,
    autoFrom: rules.length + asks.length,
  };
  known.set(says, made);
  return made;
}

const question = (tool: string): PolicyRule => ({
  name: `asks-${tool}`.slice(0, 100),
  match: { tool },
  action: 'hold',
  reason: `every call of ${tool} asks a person`,
});
