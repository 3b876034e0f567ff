import type { Json } from '@holdpoint/contract';
import type { z } from 'zod';
import { type JsonSchema, toJsonSchema } from '../json-schema.ts';
import { pointer } from '../registry/check-settings.ts';
import { createRegistry } from '../registry/registry.ts';
import type { Tool } from '../tool.ts';
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
  /** Whether its calls ask a person; a function: whether one with these arguments and settings may. */
  asks: boolean | ((args: unknown, settings: unknown) => boolean);
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
    asks: typeof tool.asks === 'function' ? (args, settings) => mayAsk(tool, args, settings) : tool.asks === true,
    issuesOf: (args) => issuesIn(tool.input, args),
  }));
}

/** Arguments that the schema refuses are refused without a question. */
function mayAsk(tool: Tool, args: unknown, settings: unknown): boolean {
  const parsed = tool.input.safeParse(args);
  return parsed.success && (tool.mayAsk?.(parsed.data, settings) ?? true);
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

export interface BackendCall {
  toolset: string;
  tool: string;
  args: Json;
  /** Whether the call may run concurrently with other calls made while the call runs. @default false */
  concurrent?: boolean;
  /** An abort ends the call. */
  signal?: AbortSignal | undefined;
}

/**
 * The place of a registry's calls: an open run, with the gate, the sandbox and the log. `openRunBackend` of `@holdpoint/client` is such a
 * backend.
 */
export interface CallBackend {
  /** The contract's own result of the call, for every way to settle. */
  call(call: BackendCall): Promise<Json>;
}
