import type { Json } from '@holdpoint/contract';
import type { ToolDefinition } from '../../tool-definition.ts';

/** The form of the contract has a `type`, which the Model Context Protocol does not: an endpoint of that protocol uses the general form. */
export const mcp = (tools: readonly ToolDefinition[]): Json[] =>
  tools.map(({ name, description, input_schema }) => ({
    ...{ name, description, type: 'tool' },
    inputSchema: input_schema as Json,
  }));
