import type { JsonSchema } from './json-schema.ts';
import type { ToolDefinition } from './registry.ts';

/** The shapes in which providers and MCP clients receive tools. */
export type ToolFormat = keyof typeof formats;

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

/** OpenAI's chat completions, and the many servers that copy them. */
const openai = (tools: readonly ToolDefinition[]): OpenAiTool[] =>
  tools.map(({ name, description, input_schema }) => ({
    type: 'function',
    function: { name, description, parameters: input_schema },
  }));

/** Anthropic's Messages API. */
const anthropic = (tools: readonly ToolDefinition[]): AnthropicTool[] =>
  tools.map(({ name, description, input_schema }) => ({ name, description, input_schema }));

/** Ollama's /api/chat: OpenAI's shape. */
const ollama = (tools: readonly ToolDefinition[]): OpenAiTool[] => openai(tools);

/** `tools/list` of the Model Context Protocol. A tool whose effect depends on the call is announced with its worst effect. */
const mcp = (tools: readonly ToolDefinition[]): McpTool[] =>
  tools.map(({ name, description, input_schema, effect }) => ({
    name,
    description,
    inputSchema: input_schema,
    annotations: {
      readOnlyHint: effect === 'read',
      destructiveHint: effect !== 'read',
      openWorldHint: effect === 'external' || effect === 'by run',
    },
  }));

export const formats = { openai, anthropic, ollama, mcp };
