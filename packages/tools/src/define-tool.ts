import type { z } from 'zod';
import { ToolsError } from './errors.ts';
import { type AnyInput, asZod } from './input-schema/from-json-schema.ts';
import { toJsonSchema } from './json-schema.ts';
import type { Tool } from './tool.ts';

/**
 * Checks a tool when the program starts and returns it typed.
 *
 * @param tool `input` is an object schema, preferably with unknown keys refused, and `output` any schema: of zod 4 or zod 3, a Standard
 * Schema with its JSON Schema, or a JSON Schema
 * @throws ToolsError `EINVALIDTOOL` when providers would refuse the name, the description is empty, the version is not a
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
export function defineTool<Output>(tool: ToolOf<Output>): Tool<z.ZodType<Output>>;
export function defineTool(tool: Tool | ToolOf): Tool {
  if (!providerName.test(tool.name)) {
    throw invalid(tool.name, 'its name is not a letter and up to 63 more letters, digits, _ and -');
  }
  if (tool.version !== undefined && !semanticVersion.test(tool.version)) {
    throw invalid(tool.name, `its version ${tool.version} is not a semantic version such as 1.0.0`);
  }
  if (tool.description.trim() === '') throw invalid(tool.name, 'its description is empty, so no model can choose it');
  const { schema: input, type } = schemaOf(tool.name, 'input', tool.input);
  if (type !== 'object') throw invalid(tool.name, 'its input is not an object schema');
  const output = tool.output && schemaOf(tool.name, 'output', tool.output).schema;
  return input === tool.input && output === tool.output ? (tool as Tool) : ({ ...tool, input, output } as Tool);
}

/** Providers accept at most 64 characters of `[a-zA-Z0-9_-]`. */
const providerName = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
/** The pattern from semver.org. */
const semanticVersion =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-((0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(\+([0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*))?$/;

function schemaOf(name: string, which: 'input' | 'output', given: AnyInput): { schema: z.ZodType; type: unknown } {
  try {
    const schema = asZod(given);
    return { schema, type: toJsonSchema(schema).type };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw invalid(name, `its ${which} has no JSON Schema: ${why}`, { cause });
  }
}

function invalid(name: string, reason: string, options?: ErrorOptions): ToolsError {
  return new ToolsError(
    'EINVALIDTOOL',
    `The tool "${name}" cannot be defined: ${reason}.`,
    'Correct the definition.',
    options,
  );
}

/** A tool whose schemas may be of another kind than zod 4. */
type ToolOf<Output = unknown> = Omit<Tool<z.ZodType<Output>>, 'input' | 'output'> & {
  input: AnyInput<Output>;
  output?: AnyInput;
};
