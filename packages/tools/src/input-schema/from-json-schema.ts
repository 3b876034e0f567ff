import type { Json } from '@holdpoint/contract';
import type { ErrorObject } from 'ajv';
import { z } from 'zod';
import { isZod4, type JsonSchema, toJsonSchema, type Zod3Schema } from '../json-schema.ts';
import { openAjv } from '../open-ajv.ts';

/**
 * JSON Schema of draft 2020-12, or of draft 7 by its `$schema`. Defaults are filled in; nothing is coerced.
 * @param options.isOutside a stranger wrote the schema: the first error is enough, unknown keywords count as notes, and nothing is filled in
 * @throws Error for a schema with an unknown keyword or format, or a reference out of the schema
 */
function fromJsonSchema(schema: JsonSchema, { isOutside = false } = {}): z.ZodType<Json> {
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
function adaptedSchema<Output>(
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

/**
 * The kinds of input schemas: a schema of zod 4 or zod 3; a Standard Schema with a JSON Schema inside or next to the schema; or a JSON
 * Schema, validated by ajv.
 */
export type AnyInput<Output = unknown> = z.ZodType<Output> | Zod3Schema<Output> | StandardInput<Output> | JsonSchema;

/** The same schema as zod 4. @throws Error for any other value, or for a schema without a JSON Schema */
export function asZod(input: AnyInput): z.ZodType {
  const schema = adapt(input);
  try {
    // Only a parse finds a field of another kind, such as zod 4 inside zod 3, and a schema with asynchronous validation.
    schema.safeParse({});
  } catch (cause) {
    throw new Error(`it cannot parse: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
  return schema;
}

function adapt(input: AnyInput): z.ZodType {
  if (isZod4Input(input)) return input;
  if (isZod3(input)) return fromZod3(input);
  if (isStandard(input)) return fromStandard(input);
  return fromJsonSchema(input);
}

const isZod4Input = (input: AnyInput): input is z.ZodType => isZod4(input as z.ZodType);

const isZod3 = (input: AnyInput): input is Zod3Schema =>
  '_def' in input && 'safeParse' in input && typeof input.safeParse === 'function';

const isStandard = (input: AnyInput): input is StandardInput => '~standard' in input || 'standard' in input;

function fromZod3<Output>(schema: Zod3Schema<Output>): z.ZodType<Output> {
  return adaptedSchema(toJsonSchema(schema), (input) => {
    const result = schema.safeParse(input);
    return result.success ? { ok: true, value: result.data } : { ok: false, issues: result.error.issues };
  });
}

/** The part of Standard Schema (version 1) used by this package. */
interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly vendor: string;
    readonly types?: { readonly output: Output } | undefined;
    validate(value: unknown): StandardResult<Output> | Promise<StandardResult<Output>>;
    /** Standard JSON Schema. */
    readonly jsonSchema?: { input(options: { target: string }): JsonSchema };
  };
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
      readonly issues: readonly {
        readonly message: string;
        readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
      }[];
    };

/** A Standard Schema with a JSON Schema inside or next to the schema. */
type StandardInput<Output = unknown> =
  | StandardSchema<Output>
  | { readonly standard: StandardSchema<Output>; readonly jsonSchema: JsonSchema };

/** @throws Error for a schema without a JSON Schema */
function fromStandard<Output>(input: StandardInput<Output>): z.ZodType<Output> {
  const { '~standard': standard } = 'standard' in input ? input.standard : input;
  const converted = 'standard' in input ? input.jsonSchema : standard.jsonSchema?.input({ target: 'draft-2020-12' });
  if (converted === undefined) {
    throw new Error(
      `this schema of ${standard.vendor} does not convert itself; write {standard: schema, jsonSchema: {…}} instead`,
    );
  }
  const { $schema: _, ...jsonSchema } = converted;
  return adaptedSchema(jsonSchema, (value) => {
    const result = standard.validate(value);
    // The gate judges a call synchronously, before any wait.
    if (result instanceof Promise) throw new Error('its schema validates asynchronously');
    if (result.issues === undefined) return { ok: true, value: result.value };
    const issues = result.issues.map(({ message, path = [] }) => ({
      message,
      path: path.map((part) => (typeof part === 'object' ? part.key : part)),
    }));
    return { ok: false, issues };
  });
}
