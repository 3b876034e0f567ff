import type { z } from 'zod';
import type { JsonSchema } from '../json-schema.ts';
import { adaptedSchema } from './adapted-schema.ts';

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
export type StandardInput<Output = unknown> =
  | StandardSchema<Output>
  | { readonly standard: StandardSchema<Output>; readonly jsonSchema: JsonSchema };

/** @throws Error for a schema without a JSON Schema */
export function fromStandard<Output>(input: StandardInput<Output>): z.ZodType<Output> {
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
