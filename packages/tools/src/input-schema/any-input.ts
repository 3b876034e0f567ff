import type { z } from 'zod';
import { isZod4, type JsonSchema, toJsonSchema, type Zod3Schema } from '../json-schema.ts';
import { adaptedSchema, fromJsonSchema } from './from-json-schema.ts';

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
