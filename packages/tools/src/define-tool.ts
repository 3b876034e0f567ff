import { z } from 'zod';
import { ToolsError } from './errors.ts';
import { isZod4, type JsonSchema, toJsonSchema, type Zod3Schema } from './json-schema.ts';
import type { Tool } from './tool.ts';

/**
 * Checks a tool when the program starts and returns it typed.
 *
 * @param tool `input` is a zod 4 object, preferably strict, or a zod 3 object, which is adapted
 * @throws ToolsError `EINVALIDTOOL` when the name is not one that providers accept, the description is empty, the version is not a
 * semantic version, the input is no object schema, or JSON Schema cannot express input or output
 * @example
 * const shout = defineTool({
 *   name: 'shout',
 *   description: 'Returns the text in capitals.',
 *   effect: 'read',
 *   risk: 'low',
 *   input: z.strictObject({ text: z.string() }),
 *   execute: async (_context, { text }) => ({ status: 'succeeded', value: { text: text.toUpperCase() } }),
 * });
 */
export function defineTool<Input extends z.ZodType>(tool: Tool<Input>): Tool<Input>;
export function defineTool<Output>(tool: Zod3Tool<Output>): Tool<z.ZodType<Output>>;
export function defineTool(tool: Tool | Zod3Tool): Tool {
  if (!nameForm.test(tool.name)) {
    throw invalid(tool.name, 'its name is not a letter and at most 63 letters, digits, _ and -');
  }
  if (tool.version !== undefined && !semanticVersion.test(tool.version)) {
    throw invalid(tool.name, `its version ${tool.version} is not a semantic version such as 1.0.0`);
  }
  if (tool.description.trim() === '') throw invalid(tool.name, 'its description is empty, so no model can choose it');
  if (schemaOf(tool.name, 'input', tool.input).type !== 'object') {
    throw invalid(tool.name, 'its input is not an object schema');
  }
  if (tool.output !== undefined) schemaOf(tool.name, 'output', tool.output);
  return isZod4Tool(tool) ? tool : { ...tool, input: fromZod3(tool.input) };
}

/** Providers accept at most 64 characters of `[a-zA-Z0-9_-]`. */
const nameForm = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
/** As semver.org gives it. */
const semanticVersion =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-((0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(\+([0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*))?$/;

function schemaOf(name: string, which: 'input' | 'output', schema: z.ZodType | Zod3Schema): JsonSchema {
  try {
    return toJsonSchema(schema);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw invalid(name, `its ${which} has no JSON Schema: ${reason}`, { cause });
  }
}

function isZod4Tool(tool: Tool | Zod3Tool): tool is Tool {
  return isZod4(tool.input);
}

function invalid(name: string, reason: string, options?: ErrorOptions): ToolsError {
  return new ToolsError(
    'EINVALIDTOOL',
    `The tool "${name}" cannot be defined: ${reason}.`,
    'Correct the definition.',
    options,
  );
}

interface Zod3Tool<Output = unknown> extends Omit<Tool, 'input' | 'effect' | 'execute' | 'preview'> {
  input: Zod3Schema<Output>;
  effect: ReturnType<EffectOf> | ((args: Output) => ReturnType<EffectOf>);
  execute(context: ContextOf, args: Output): ReturnType<Tool['execute']>;
  preview?(context: ContextOf, args: Output): ReturnType<NonNullable<Tool['preview']>>;
}

type EffectOf = Extract<Tool['effect'], (...args: never[]) => unknown>;
type ContextOf = Parameters<Tool['execute']>[0];

/** A zod 4 schema that parses with the zod 3 schema and has its JSON Schema. Only `defineTool` sees two kinds. */
function fromZod3<Output>(schema: Zod3Schema<Output>): z.ZodType<Output> {
  const adapted = z.unknown().transform((input, context): Output => {
    const result = schema.safeParse(input);
    if (result.success) return result.data;
    for (const { path, message } of result.error.issues) {
      context.issues.push({ code: 'custom', message, path: [...path], input });
    }
    return z.NEVER;
  });
  const jsonSchema = toJsonSchema(schema);
  adapted._zod.toJSONSchema = () => structuredClone(jsonSchema);
  return adapted;
}
