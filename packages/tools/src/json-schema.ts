import { createRequire } from 'node:module';
import { z } from 'zod';

const require = createRequire(import.meta.url);

/** The part of a zod 3 schema used by this package; every copy of zod 3 has this part. */
export interface Zod3Schema<Output = unknown> {
  readonly _output: Output;
  readonly _def: object;
  safeParse(data: unknown): Zod3Result<Output>;
}

type Zod3Result<Output> =
  | { success: true; data: Output }
  | { success: false; error: { issues: readonly { path: readonly PropertyKey[]; message: string }[] } };

export type JsonSchema = Record<string, unknown>;

/**
 * JSON Schema (2020-12, without `$schema`) of a tool's input: a field with a default is optional.
 *
 * zod 4 has its own converter. `zod-to-json-schema` knows only zod 3 and silently converts a zod 4 schema into an empty object: a model
 * would see a tool without arguments. Only this function distinguishes the two kinds.
 *
 * @throws Error when a part of the schema has no JSON Schema, e.g. `z.date()`
 */
export function toJsonSchema(schema: z.ZodType | Zod3Schema): JsonSchema {
  const converted: JsonSchema = isZod4(schema)
    ? { ...z.toJSONSchema(schema, { io: 'input' }) }
    : fromZod3Schema(schema);
  delete converted.$schema;
  return converted;
}

export function isZod4(schema: z.ZodType | Zod3Schema): schema is z.ZodType {
  return '_zod' in schema;
}

function fromZod3Schema(schema: Zod3Schema): JsonSchema {
  // Loaded here, because hardly any process meets a schema of zod 3.
  const { zodToJsonSchema }: typeof import('zod-to-json-schema') = require('zod-to-json-schema');
  // The converter's parameter type is the class of zod/v3. Users pass the same class from their own copy of zod 3.
  const convertible = schema as Parameters<typeof zodToJsonSchema>[0];
  return {
    ...zodToJsonSchema(convertible, { target: 'jsonSchema2019-09', definitionPath: '$defs', pipeStrategy: 'input' }),
  };
}
