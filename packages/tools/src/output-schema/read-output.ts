import type { Json } from '@holdpoint/contract';
import type { ErrorObject } from 'ajv';
import { openAjv } from '../open-ajv.ts';

type Schema = Record<string, unknown>;

/**
 * JSON Schema of draft 2020-12, or of draft 7 by its `$schema`. Nothing is filled in or coerced.
 * @throws Error for a schema with an unknown keyword or format, or a reference out of the schema
 */
function compileOutput(schema: Schema): (value: Json) => string[] {
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

export interface OutputInput {
  text: string;
  schema: Record<string, unknown>;
}
export type ReadOutput = { ok: true; value: Json } | { ok: false; errors: string[] };

const mostErrors = 20;
const longestText = 4 * 1024 * 1024;

/** The JSON value in the final answer of a model, when the value fits the schema. Words and fences around the value are left out. */
export function readOutput({ text, schema }: OutputInput): ReadOutput {
  if (text.length > longestText) return { ok: false, errors: [`the answer is longer than ${longestText} characters`] };
  const errorsOf = compileOutput(schema);
  const found = candidates(text).flatMap(parsed);
  if (found.length === 0) return { ok: false, errors: ['the answer has no JSON value'] };
  const tried = found.map(({ value }) => ({ value, errors: errorsOf(value) }));
  const fitting = tried.find(({ errors }) => errors.length === 0);
  if (fitting !== undefined) return { ok: true, value: fitting.value };
  const errors = tried[0]?.errors ?? [];
  const more = errors.length - mostErrors;
  return { ok: false, errors: more > 0 ? [...errors.slice(0, mostErrors), `and ${more} more`] : errors };
}

/** The whole text, each fenced part from the last on, and the text between the outermost brackets. */
function candidates(text: string): string[] {
  const fenced = text.split('```').filter((_, index) => index % 2 === 1);
  const parts = fenced.map((part) => part.replace(/^[a-z0-9]*\s*\n/i, '')).reverse();
  return [text, ...parts.slice(0, 10), between(text, '{', '}'), between(text, '[', ']')];
}

function between(text: string, open: string, close: string): string {
  const [from, to] = [text.indexOf(open), text.lastIndexOf(close)];
  return from === -1 ? '' : text.slice(from, to + 1);
}

function parsed(text: string): { value: Json }[] {
  try {
    return [{ value: JSON.parse(text) as Json }];
  } catch {
    return [];
  }
}
