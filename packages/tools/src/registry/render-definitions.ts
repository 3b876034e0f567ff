import type { Json } from '@holdpoint/contract';
import { ToolsError } from '../errors.ts';
import type { JsonSchema } from '../json-schema.ts';
import type { ToolDefinition } from '../tool-definition.ts';
import type { Toolset } from '../toolset.ts';

/** The bare function-calling form, without OpenAI's envelope. */
type FunctionTool = Pick<ToolDefinition, 'name' | 'description'> & { parameters: JsonSchema };

interface OpenAiTool {
  type: 'function';
  function: { name: string; description: string; parameters: JsonSchema };
}

interface AnthropicTool {
  name: string;
  description: string;
  input_schema: JsonSchema;
}

interface McpTool {
  name: string;
  description: string;
  inputSchema: JsonSchema;
  annotations: { readOnlyHint: boolean; destructiveHint: boolean; openWorldHint: boolean };
}

/** OpenAI's chat completions, and the many compatible servers. */
function openai(tools: readonly ToolDefinition[]): OpenAiTool[] {
  return tools.map(({ name, description, input_schema }) => ({
    type: 'function',
    function: { name, description, parameters: input_schema },
  }));
}

function openaiFunctions(tools: readonly ToolDefinition[]): FunctionTool[] {
  return tools.map(({ name, description, input_schema }) => ({ name, description, parameters: input_schema }));
}

/** Anthropic's Messages API. */
function anthropic(tools: readonly ToolDefinition[]): AnthropicTool[] {
  return tools.map(({ name, description, input_schema }) => ({ name, description, input_schema }));
}

/** Ollama's /api/chat: OpenAI's shape. */
function ollama(tools: readonly ToolDefinition[]): OpenAiTool[] {
  return openai(tools);
}

/** `tools/list` of the Model Context Protocol. A tool whose effect depends on the call is announced with its worst effect. */
function mcp(tools: readonly ToolDefinition[]): McpTool[] {
  return tools.map(({ name, description, input_schema, effect }) => ({
    name,
    description,
    inputSchema: input_schema,
    annotations: {
      readOnlyHint: effect === 'read',
      destructiveHint: effect !== 'read',
      openWorldHint: effect === 'external' || effect === 'by run',
    },
  }));
}

/** The forms of tools for providers and MCP clients, the same for every toolset. */
export const formats = { openai, 'openai-functions': openaiFunctions, anthropic, ollama, mcp };

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
