import type { Json } from '@holdpoint/contract';
import type { ErrorObject } from 'ajv';
import { z } from 'zod';
import type { JsonSchema } from '../json-schema.ts';
import { openAjv } from '../open-ajv.ts';

/**
 * JSON Schema of draft 2020-12, or of draft 7 by its `$schema`. Defaults are filled in; nothing is coerced.
 * @param options.isOutside a stranger wrote the schema: the first error is enough, unknown keywords count as notes, and nothing is filled in
 * @throws Error for a schema with an unknown keyword or format, or a reference out of the schema
 */
export function fromJsonSchema(schema: JsonSchema, { isOutside = false } = {}): z.ZodType<Json> {
  const { $schema, ...jsonSchema } = schema;
  const options = isOutside
    ? { strict: false, validateFormats: false }
    : { allErrors: true, useDefaults: true, strictTypes: false, strictRequired: false };
  const ajv = openAjv($schema, options);
  const validate = ajv.compile<Json>({ ...jsonSchema, $async: undefined });
  return adaptedSchema(jsonSchema, (input) => {
    // Defaults are written into the value.
    const value: unknown = structuredClone(input);
    return validate(value) ? { ok: true, value } : { ok: false, issues: (validate.errors ?? []).map(issue) };
  });
}

function issue({ instancePath, keyword, params, message = 'is not valid' }: ErrorObject) {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  switch (keyword) {
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return { path: [...path, String(params.additionalProperty ?? params.unevaluatedProperty)], message: unknown };
    case 'required':
      return { path: [...path, String(params.missingProperty)], message: 'is required' };
    case 'enum':
      return { path, message: `must be one of ${JSON.stringify(params.allowedValues)}` };
    default:
      return { path, message };
  }
}

const unknown = 'unknown parameter';

type ParsedInput<Output> =
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
