import { z } from 'zod';
import type { JsonSchema } from '../json-schema.ts';

export type ParsedInput<Output> =
  | { ok: true; value: Output }
  | { ok: false; issues: readonly { path: readonly PropertyKey[]; message: string }[] };

/** A zod 4 schema with the given parse function and JSON Schema: only `asZod` knows other kinds of schemas. */
export function adaptedSchema<Output>(
  jsonSchema: JsonSchema,
  parse: (input: unknown) => ParsedInput<Output>,
): z.ZodType<Output> {
  const adapted = z.unknown().transform((input, context): Output => {
    const result = parse(input);
    if (result.ok) return result.value;
    for (const { path, message } of result.issues) {
      context.issues.push({ code: 'custom', message, path: [...path], input });
    }
    return z.NEVER;
  });
  adapted._zod.toJSONSchema = () => structuredClone(jsonSchema);
  return adapted;
}
