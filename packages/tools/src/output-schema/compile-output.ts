import type { Json } from '@holdpoint/contract';
import type { ErrorObject } from 'ajv';
import { openAjv } from '../open-ajv.ts';

type Schema = Record<string, unknown>;

/**
 * JSON Schema of draft 2020-12, or of draft 7 by its `$schema`. Nothing is filled in or coerced.
 * @throws Error for a schema with an unknown keyword or format, or a reference out of the schema
 */
export function compileOutput(schema: Schema): (value: Json) => string[] {
  const { $schema, ...jsonSchema } = schema;
  const ajv = openAjv($schema, { allErrors: true, strictTypes: false, strictRequired: false, strictTuples: false });
  const validate = ajv.compile<Json>({ ...jsonSchema, $async: undefined });
  return (value) => (validate(value) ? [] : (validate.errors ?? []).map(worded));
}

/** The reason of an unusable schema; undefined for a usable schema. */
export function outputSchemaProblem(schema: Schema): string | undefined {
  if (JSON.stringify(schema).length > longestSchema) return `is longer than ${longestSchema} characters`;
  try {
    compileOutput(schema);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const longestSchema = 65_536;

function worded({ instancePath, params, message = 'is not valid' }: ErrorObject): string {
  const extra = params.additionalProperty ?? params.unevaluatedProperty;
  const detail = Array.isArray(params.allowedValues) ? `: ${JSON.stringify(params.allowedValues)}` : '';
  const name = extra === undefined ? '' : `: ${String(extra)}`;
  return `${instancePath === '' ? 'the value' : instancePath} ${message}${detail}${name}`.slice(0, 500);
}
