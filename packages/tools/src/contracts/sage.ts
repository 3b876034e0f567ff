import type { Json } from '@holdpoint/contract';
import type { z } from 'zod';
import { asZod } from '../input-schema/from-json-schema.ts';
import { type JsonSchema, toJsonSchema } from '../json-schema.ts';
import type { Toolset } from '../toolset.ts';
import { sage } from '../toolsets/sage/toolset.ts';
import { asJsonArgs, builtInTools, type CallBackend, issuesIn } from './built-in-tools.ts';
import { assertKept, type SageContext, UnknownSecret, withSecrets } from './sage-context.ts';

export interface SageResult {
  ok: boolean;
  data?: Json;
  error?: { code: string; message: string };
  meta: { startedAt: string; endedAt: string; durationMs: number };
}

export interface SageTool {
  name: string;
  description?: string;
  schema: JsonSchema;
  version?: string;
  /** @default false */
  readOnly?: boolean;
  /** @returns the input with the defaults of its schema */
  validate(input: unknown): { ok: true; input?: unknown } | { ok: false; message: string };
  /** @throws Error when the tool runs in a backend and the context has a field only its run can have */
  execute(input: unknown, context?: SageContext): Promise<SageResult>;
}

export interface SageRegistry {
  register(tool: SageTool): void;
  /** @throws Error for an unknown name */
  get(name: string): SageTool;
  getToolSchemas(): { name: string; description: string; schema: JsonSchema }[];
  has(name: string): boolean;
  /** Whether the tool was registered. */
  remove(name: string): boolean;
  clear(): void;
}

/**
 * Makes a tool of a function: its return value becomes `data`, and a thrown error an error.
 * @throws Error for parameters without a JSON Schema
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
        const filled = await withSecrets(input, context.secretProvider);
        const checked = schema.safeParse(filled.input);
        if (!checked.success) return filled.redact(refused('EVALIDATION', messageOf(schema, filled.input)));
        const run = async () => await implementation(checked.data, context);
        const done = await run().then(succeeded, failed);
        return filled.redact(done);
      }),
  };
}

/**
 * Begins with the tools of the toolset, run by the backend.
 * @param options.readOnly refuses every tool with a possible change. @default false
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
      validate: tool ? validator(tool.input) : (input) => ({ ok: true, input }),
      execute: async (input, context = {}) => {
        assertKept(name, context, effect === 'read');
        const call = { toolset: toolset.name, tool: name, args: asJsonArgs(input), signal: context.signal };
        return (await backend.call(call)) as unknown as SageResult;
      },
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
    const parsed = schema.safeParse(input);
    return parsed.success ? { ok: true, input: parsed.data } : { ok: false, message: messageOf(schema, input) };
  };

const messageOf = (schema: z.ZodType, input: unknown): string =>
  issuesIn(schema, input)
    .map(({ pointer, detail }) => `${pointer || 'the input'}: ${detail}`)
    .join('; ');

type Outcome = { ok: true; data: Json } | { ok: false; error: { code: string; message: string } };

const succeeded = (returned: unknown): Outcome => ({ ok: true, data: JSON.parse(JSON.stringify(returned ?? null)) });

const failed = (error: unknown): Outcome =>
  refused(
    error instanceof UnknownSecret ? 'EVALIDATION' : 'ERUNTIME',
    error instanceof Error ? error.message : String(error),
  );

const refused = (code: string, message: string): Outcome => ({ ok: false, error: { code, message } });

async function timed(run: () => Promise<Outcome>): Promise<SageResult> {
  const began = Date.now();
  const result = await run().catch(failed);
  const ended = Date.now();
  const meta = {
    startedAt: new Date(began).toISOString(),
    endedAt: new Date(ended).toISOString(),
    durationMs: ended - began,
  };
  return { ...result, meta };
}
