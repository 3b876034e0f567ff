import type { ToolsetRules } from '@holdpoint/contract';
import type { Toolset } from './toolset.ts';

const none: ToolsetRules = { rules: [], asks: [] };

/** Finds what a toolset says of its own calls. An unknown toolset says nothing. The same object each time, so that it is compiled once. */
export function rulesOf(toolsets: readonly Toolset[]): (toolset: string, settings: unknown) => ToolsetRules {
  const byName = new Map(toolsets.map((toolset) => [toolset.name, toolset]));
  const made = new Map<string, ToolsetRules>();
  return (name, settings) => {
    const toolset = byName.get(name);
    if (toolset === undefined) return none;
    const asks = toolset.asking?.(settings) ?? alwaysAsking(toolset);
    const key = JSON.stringify([name, ...asks]);
    const known = made.get(key) ?? { rules: toolset.rules ?? [], asks };
    made.set(key, known);
    return known;
  };
}

const alwaysAsking = ({ tools }: Toolset): string[] =>
  tools.filter(({ asks }) => asks === true).map(({ name }) => name);
