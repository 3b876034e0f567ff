import type { z } from 'zod';

type Standard = z.ZodObject['~standard'];
type Convert = Standard['jsonSchema']['input'];

/**
 * A schema for the library of the protocol, with its JSON Schema made once: the library asks for the JSON Schema in each request.
 * @param isOwn the values are Holdpoint's own, and of the schema's type: they are not parsed again
 */
export function knownSchema<Schema extends z.ZodObject>(schema: Schema, { isOwn = false } = {}): Schema {
  const { validate, jsonSchema, ...standard } = schema['~standard'];
  const own: Standard['validate'] = (value) => ({ value: value as Record<string, unknown> });
  const known = {
    '~standard': {
      ...standard,
      validate: isOwn ? own : validate,
      jsonSchema: { input: once(jsonSchema.input), output: once(jsonSchema.output) },
    },
  };
  return known as unknown as Schema;
}

function once(convert: Convert): Convert {
  const made = new Map<string, ReturnType<Convert>>();
  return (options) => {
    const known = made.get(options.target) ?? convert(options);
    made.set(options.target, known);
    return known;
  };
}
