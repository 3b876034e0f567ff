import type { Json } from '@holdpoint/contract';
import type { z } from 'zod';
import { type JsonSchema, toJsonSchema } from '../json-schema.ts';
import { pointer } from '../registry/invalid-args.ts';
import { createRegistry } from '../registry/registry.ts';
import type { Toolset } from '../toolset.ts';

/** A tool of a toolset in the view of a registry in this process. */
export interface BuiltInTool {
  name: string;
  description: string;
  label: string;
  version?: string | undefined;
  effect: string;
  inputSchema: JsonSchema;
  outputSchema?: JsonSchema | undefined;
  /** Whether each of its calls asks a person; a function: some do. */
  asks: boolean | 'some';
  /** The mistakes in arguments, each with its pointer. */
  issuesOf(args: unknown): { pointer: string; detail: string }[];
}

export function builtInTools(toolset: Toolset): BuiltInTool[] {
  const shown = new Map(
    createRegistry([toolset])
      .list(toolset.name)
      .map((tool) => [tool.name, tool]),
  );
  return toolset.tools.map((tool) => ({
    name: tool.name,
    description: tool.description,
    label: tool.label ?? tool.risk,
    version: tool.version,
    effect: typeof tool.effect === 'function' ? 'by run' : tool.effect,
    inputSchema: shown.get(tool.name)?.input_schema ?? {},
    outputSchema: tool.output && toJsonSchema(tool.output),
    asks: tool.asks === undefined ? false : tool.asks === true || 'some',
    issuesOf: (args) => issuesIn(tool.input, args),
  }));
}

export function issuesIn(schema: z.ZodType, args: unknown): { pointer: string; detail: string }[] {
  return (schema.safeParse(args).error?.issues ?? []).flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ pointer: pointer([...issue.path, key]), detail: 'unknown parameter' }))
      : [{ pointer: pointer(issue.path), detail: issue.message }],
  );
}

/** Arguments as JSON, as a call sends them. */
export const asJsonArgs = (args: unknown): Json => JSON.parse(JSON.stringify(args ?? {})) as Json;
