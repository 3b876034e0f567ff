import type { Json } from '@holdpoint/contract';
import { Ajv, type ErrorObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formatsPlugin from 'ajv-formats';

type Schema = Record<string, unknown>;

/**
 * JSON Schema of draft 2020-12, or of draft 7 when `$schema` says so. Nothing is filled in or coerced.
 * @throws Error for a schema with an unknown keyword or format, or a reference that leads out of it
 */
export function compileOutput(schema: Schema): (value: Json) => string[] {
  const { $schema, ...jsonSchema } = schema;
  const Validator = String($schema ?? '').includes('draft-07') ? Ajv : Ajv2020;
  const ajv = new Validator({ allErrors: true, strictTypes: false, strictRequired: false, strictTuples: false });
  // CommonJS: the plugin is the default of the default.
  formatsPlugin.default(ajv);
  const validate = ajv.compile<Json>({ ...jsonSchema, $async: undefined });
  return (value) => (validate(value) ? [] : (validate.errors ?? []).map(worded));
}

/** Why a schema cannot be used; undefined: it can. */
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
