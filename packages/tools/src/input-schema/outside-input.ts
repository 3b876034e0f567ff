import type { Json } from '@holdpoint/contract';
import type { z } from 'zod';
import type { JsonSchema } from '../json-schema.ts';
import { adaptedSchema, fromJsonSchema } from './from-json-schema.ts';

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
