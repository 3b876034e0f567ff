import type { CatalogTool } from '@holdpoint/policy';
import { createRegistry, holdpoint } from '@holdpoint/tools';

/** The tools that rules can name. Needs no server. */
export function catalogTools(): CatalogTool[] {
  const registry = createRegistry([holdpoint]);
  return registry.toolsets().flatMap((toolset) => registry.list(toolset).map((tool) => ({ ...tool, toolset })));
}
