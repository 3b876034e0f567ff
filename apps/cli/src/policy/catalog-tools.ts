import { type CatalogTool, type ToolsetPolicy, toolsetPolicy } from '@holdpoint/policy';
import { createRegistry, everyToolset } from '@holdpoint/tools';

/** The tools that rules can name. Needs no server. */
export function catalogTools(): CatalogTool[] {
  const registry = createRegistry(everyToolset);
  return registry.toolsets().flatMap((toolset) => registry.list(toolset).map((tool) => ({ ...tool, toolset })));
}

/** What a toolset says of its own calls. */
export const catalogPolicy = (toolset: string): ToolsetPolicy | undefined =>
  toolsetPolicy(toolset, createRegistry(everyToolset).rules(toolset, undefined));
