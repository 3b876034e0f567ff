import type { Modes, ToolsetRules } from '@holdpoint/contract';
import type { Toolset } from '../toolset.ts';

const none: ToolsetRules = { rules: [], asks: [] };
/** Rules by settings are as many as the different settings of runs. */
const mostKept = 500;

/**
 * Finds a toolset's rules for its own calls. An unknown toolset says nothing. The same object as long as the cache keeps the rules, for a
 * single compilation.
 */
export function rulesOf(
  toolsets: readonly Toolset[],
): (toolset: string, settings: unknown, modes?: Modes) => ToolsetRules {
  const byName = new Map(toolsets.map((toolset) => [toolset.name, toolset]));
  const made = new Map<string, ToolsetRules>();
  return (name, settings, modes) => {
    const toolset = byName.get(name);
    if (toolset === undefined) return none;
    const asks = toolset.asking?.(settings) ?? alwaysAsking(toolset);
    const { rules: given = [] } = toolset;
    const rules = typeof given === 'function' ? given({ settings, modes }) : given;
    const auto = toolset.auto?.({ settings, modes });
    const key = JSON.stringify([name, asks, typeof given === 'function' && rules, auto]);
    const known = made.get(key) ?? { rules, asks, auto };
    made.delete(key);
    made.set(key, known);
    const [oldest] = made.keys();
    if (made.size > mostKept && oldest !== undefined) made.delete(oldest);
    return known;
  };
}

const alwaysAsking = ({ tools }: Toolset): string[] =>
  tools.filter(({ asks }) => asks === true).map(({ name }) => name);
