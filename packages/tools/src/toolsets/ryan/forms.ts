import type { Json } from '@holdpoint/contract';
import type { ToolDefinition } from '../../tool-definition.ts';

/** The contract's form has a `type`, unknown to the Model Context Protocol: an MCP endpoint uses the general form. */
export const mcp = (tools: readonly ToolDefinition[]): Json[] =>
  tools.map(({ name, description, input_schema }) => ({
    ...{ name, description, type: 'tool' },
    inputSchema: input_schema as Json,
  }));
