import type { Json } from '@holdpoint/contract';
import { ToolsError } from '../errors.ts';
import type { ToolDefinition } from '../tool-definition.ts';
import type { Toolset } from '../toolset.ts';
import { formats } from './formats.ts';

/**
 * Definitions of tools in the form of a model provider or an MCP client. The toolset's own form of a name comes first.
 * @throws ToolsError `EUNKNOWNFORM` with the known names
 */
export function renderDefinitions(
  toolset: Pick<Toolset, 'name' | 'forms'>,
  form: string,
  tools: readonly ToolDefinition[],
): readonly Json[] {
  const known = { ...formats, ...toolset.forms };
  const shape = Object.hasOwn(known, form) ? known[form as keyof typeof known] : undefined;
  if (!shape) {
    throw new ToolsError(
      'EUNKNOWNFORM',
      `The toolset "${toolset.name}" has no form for a provider named "${form.slice(0, 100)}".`,
      `Use one of: ${Object.keys(known)
        .filter((name) => known[name as keyof typeof known])
        .join(', ')}.`,
    );
  }
  return shape(tools) as readonly Json[];
}
