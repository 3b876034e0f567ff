import type { Json } from '@holdpoint/contract';
import type { ToolDefinition } from '../../tool-definition.ts';

/** The form of the contract for function calling: a bare function. */
export const openaiFunctions = (tools: readonly ToolDefinition[]): Json[] =>
  tools.map(({ name, description, input_schema }) => ({ name, description, parameters: input_schema as Json }));
