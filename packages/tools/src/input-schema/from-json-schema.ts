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

/**
 * Keywords whose check costs more than the size of schema and arguments allows: a pattern, a reference and a set may each take time that grows
 * without bound. Formats are left to the server, too.
 */
const unchecked = new Set([
  ...['pattern', 'patternProperties', 'propertyNames', 'format', 'uniqueItems', 'contentSchema'],
  ...['$ref', '$dynamicRef', '$recursiveRef', '$id', '$anchor', '$dynamicAnchor', '$defs', 'definitions'],
]);

/** Keywords with schemas by name: their keys are names of properties. */
const byName = new Set(['properties', 'dependentSchemas']);
/** Keywords with values, not schemas. */
const values = new Set(['enum', 'const', 'default', 'examples', 'required', 'type']);

/**
 * The input of a tool that a stranger wrote, as zod: models and clients see the JSON Schema as it is, and arguments are checked by all of it that
 * can be checked in bounded time. No default is filled in. When ajv refuses the schema, any object passes.
 * @throws Error for a schema that is not of an object
 */
export function outsideInput(schema: JsonSchema): z.ZodType<Json> {
  if (schema.type !== 'object') throw new Error('its input is not an object');
  const checked = checkOf(bounded(schema) as JsonSchema);
  const { $schema: _, ...shown } = schema;
  return adaptedSchema(shown, (input) => {
    const result = checked.safeParse(input);
    return result.success ? { ok: true, value: input as Json } : { ok: false, issues: result.error.issues };
  });
}

function checkOf(schema: JsonSchema): z.ZodType<Json> {
  try {
    return fromJsonSchema(schema, { isOutside: true });
  } catch {
    return fromJsonSchema({ type: 'object' });
  }
}

function bounded(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(bounded);
  if (typeof schema !== 'object' || schema === null) return schema;
  const kept = Object.entries(schema).filter(([keyword]) => !unchecked.has(keyword));
  return Object.fromEntries(
    kept.map(([keyword, value]) => {
      if (values.has(keyword)) return [keyword, value];
      return [keyword, byName.has(keyword) ? mapValues(value) : bounded(value)];
    }),
  );
}

const mapValues = (named: unknown): unknown =>
  typeof named === 'object' && named !== null
    ? Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, bounded(schema)]))
    : named;
