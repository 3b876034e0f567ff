import type { z } from 'zod';
import { ToolsError } from './errors.ts';
import { type AnyInput, asZod } from './input-schema/any-input.ts';
import { toJsonSchema } from './json-schema.ts';
import type { Tool } from './tool.ts';

/**
 * Checks a tool when the program starts and returns it typed.
 *
 * @param tool `input` is an object schema, preferably one that refuses unknown keys: of zod 4 or zod 3, a Standard Schema with its JSON
 * Schema, or a JSON Schema
 * @throws ToolsError `EINVALIDTOOL` when the name is not one that providers accept, the description is empty, or the input is no object
 * schema that JSON Schema can express
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
export function defineTool<Output>(tool: ToolOf<Output>): Tool<z.ZodType<Output>>;
export function defineTool(tool: Tool | ToolOf): Tool {
  if (!providerName.test(tool.name)) {
    throw invalid(tool.name, 'its name is not a letter and up to 63 more letters, digits, _ and -');
  }
  if (tool.description.trim() === '') throw invalid(tool.name, 'its description is empty, so no model can choose it');
  const input = inputOf(tool);
  return input === tool.input ? (tool as Tool) : ({ ...tool, input } as Tool);
}

/** Providers accept at most 64 characters of `[a-zA-Z0-9_-]`. */
const providerName = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

function inputOf(tool: { name: string; input: AnyInput }): z.ZodType {
  let type: unknown;
  let schema: z.ZodType;
  try {
    schema = asZod(tool.input);
    ({ type } = toJsonSchema(schema));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw invalid(tool.name, `its input has no JSON Schema: ${why}`, { cause });
  }
  if (type !== 'object') throw invalid(tool.name, 'its input is not an object schema');
  return schema;
}

function invalid(name: string, reason: string, options?: ErrorOptions): ToolsError {
  return new ToolsError(
    'EINVALIDTOOL',
    `The tool "${name}" cannot be defined: ${reason}.`,
    'Correct the definition.',
    options,
  );
}

/** A tool whose input is no zod 4 schema. */
type ToolOf<Output = unknown> = Omit<Tool<z.ZodType<Output>>, 'input'> & { input: AnyInput<Output> };
