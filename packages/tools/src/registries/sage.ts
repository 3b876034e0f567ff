import type { Json } from '@holdpoint/contract';
import type { z } from 'zod';
import { asZod } from '../input-schema/any-input.ts';
import { type JsonSchema, toJsonSchema } from '../json-schema.ts';
import type { Toolset } from '../toolset.ts';
import { sage } from '../toolsets/sage/toolset.ts';
import { asJsonArgs, builtInTools, issuesIn } from './built-in-tools.ts';
import type { CallBackend } from './call-backend.ts';

export interface SageResult {
  ok: boolean;
  data?: Json;
  error?: { code: string; message: string };
  meta: { startedAt: string; endedAt: string; durationMs: number };
}

/** What a tool that runs in this process gets. Permissions, dry run and secrets of the other tools are those of their run. */
export interface SageContext {
  cwd?: string;
  env?: Record<string, string>;
  signal?: AbortSignal;
}

export interface SageTool {
  name: string;
  description?: string;
  schema: JsonSchema;
  version?: string;
  /** @default false */
  readOnly?: boolean;
  validate(input: unknown): { ok: true } | { ok: false; message: string };
  execute(input: unknown, context?: SageContext): Promise<SageResult>;
}

export interface SageRegistry {
  register(tool: SageTool): void;
  /** @throws Error for an unknown name */
  get(name: string): SageTool;
  getToolSchemas(): { name: string; description: string; schema: JsonSchema }[];
  has(name: string): boolean;
  /** Whether it was there. */
  remove(name: string): boolean;
  clear(): void;
}

/**
 * A tool of a function: what it returns becomes `data`, and what it throws an error.
 * @throws Error when its parameters have no JSON Schema
 */
export function defineTool<Parameters>(definition: {
  name: string;
  description?: string;
  version?: string;
  readOnly?: boolean;
  parameters: z.ZodType<Parameters>;
  implementation(parameters: Parameters, context: SageContext): Promise<unknown> | unknown;
}): SageTool {
  const { parameters, implementation, ...about } = definition;
  const schema = asZod(parameters) as z.ZodType<Parameters>;
  const validate = validator(schema);
  return {
    ...about,
    schema: toJsonSchema(schema),
    validate,
    execute: (input, context = {}) =>
      timed(async () => {
        const checked = validate(input);
        if (!checked.ok) return refused('EVALIDATION', checked.message);
        const returned = await implementation(schema.parse(input), context);
        return { ok: true, data: JSON.parse(JSON.stringify(returned ?? null)) as Json };
      }),
  };
}

/**
 * Begins with the tools of the toolset, which run in the backend.
 * @param options.readOnly refuses every tool that may change something. @default false
 */
export function createSageRegistry(
  backend: CallBackend,
  { toolset = sage, readOnly = false }: { toolset?: Toolset; readOnly?: boolean } = {},
): SageRegistry {
  const tools = new Map<string, SageTool>();
  const register = (tool: SageTool): void => {
    if (!readOnly || tool.readOnly) return void tools.set(tool.name, tool);
    const message = `${tool.name} may change something, and this registry is read-only. Use another registry for it.`;
    tools.set(tool.name, { ...tool, execute: () => timed(async () => refused('EPERMISSION', message)) });
  };
  for (const [index, { name, description, inputSchema: schema, version, effect }] of builtInTools(toolset).entries()) {
    const tool = toolset.tools[index];
    register({
      ...{ name, description, schema, readOnly: effect === 'read' },
      ...(version !== undefined && { version }),
      validate: tool ? validator(tool.input) : () => ({ ok: true }),
      execute: async (input, { signal } = {}) =>
        (await backend.call({
          toolset: toolset.name,
          tool: name,
          args: asJsonArgs(input),
          signal,
        })) as unknown as SageResult,
    });
  }
  return {
    register,
    get(name) {
      const tool = tools.get(name);
      if (tool === undefined)
        throw new Error(`There is no tool named "${name}"; there is ${[...tools.keys()].join(', ')}.`);
      return tool;
    },
    getToolSchemas: () =>
      [...tools.values()].map(({ name, description = '', schema }) => ({ name, description, schema })),
    has: (name) => tools.has(name),
    remove: (name) => tools.delete(name),
    clear: () => tools.clear(),
  };
}

const validator =
  (schema: z.ZodType): SageTool['validate'] =>
  (input) => {
    const issues = issuesIn(schema, input);
    if (issues.length === 0) return { ok: true };
    return {
      ok: false,
      message: issues.map(({ pointer, detail }) => `${pointer || 'the input'}: ${detail}`).join('; '),
    };
  };

const refused = (code: string, message: string): Omit<SageResult, 'meta'> => ({ ok: false, error: { code, message } });

async function timed(run: () => Promise<Omit<SageResult, 'meta'>>): Promise<SageResult> {
  const began = Date.now();
  const result = await run().catch((error: unknown) =>
    refused('ERUNTIME', error instanceof Error ? error.message : String(error)),
  );
  const ended = Date.now();
  const meta = {
    startedAt: new Date(began).toISOString(),
    endedAt: new Date(ended).toISOString(),
    durationMs: ended - began,
  };
  return { ...result, meta };
}
