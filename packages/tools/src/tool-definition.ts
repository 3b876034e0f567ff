import type { CallGate, Effect, Risk } from '@holdpoint/contract';
import { type JsonSchema, toJsonSchema } from './json-schema.ts';
import type { Tool } from './tool.ts';

/** The view of a tool for models, clients and people. */
export interface ToolDefinition {
  name: string;
  description: string;
  /** `by run`: the effect depends on the call's arguments or on the hosts in reach of its run. */
  effect: Effect | 'by run';
  risk: Risk;
  gate?: CallGate;
  /** The contract's own word for the risk. */
  label: string;
  /** Semantic version of its interface. */
  version?: string;
  /** Whether a call needs a person's answer first: `look`: depending on the call and on the workspace. */
  asks: 'no' | 'yes' | 'look';
  input_schema: JsonSchema;
  output_schema?: JsonSchema;
}

export function definition(tool: Tool): ToolDefinition {
  return {
    name: tool.name,
    description: tool.description,
    effect: typeof tool.effect === 'function' ? 'by run' : tool.effect,
    risk: tool.risk,
    gate: tool.gate,
    label: tool.label ?? tool.risk,
    version: tool.version,
    asks: tool.asks === undefined ? 'no' : tool.asks === true ? 'yes' : 'look',
    input_schema: toJsonSchema(tool.input),
    output_schema: tool.output && toJsonSchema(tool.output),
  };
}

/** A tool in a request to a model. */
export interface OfferedTool {
  name: string;
  description: string;
  parameters: JsonSchema;
  freeText?: string;
}

export function offeredTool({ name, description, freeText, ...tool }: Tool): OfferedTool {
  const schema = toJsonSchema(tool.input);
  const parameters = tool.modelSchema === undefined ? schema : tool.modelSchema(schema);
  return { name, description, parameters, ...(freeText !== undefined && { freeText }) };
}
