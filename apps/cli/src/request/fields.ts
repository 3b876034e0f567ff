import { nearestNames } from '@holdpoint/contract';
import { createRunSchema } from '@holdpoint/contract/wire';
import { z } from 'zod';

/** A field of POST /v1/runs as JSON Schema. */
type Field = z.core.JSONSchema.BaseSchema;

let opened: Field | undefined;
/** Made once, when asked for: the conversion takes 50 ms. */
const schema = (): Field => {
  opened ??= z.toJSONSchema(createRunSchema, { io: 'input', unrepresentable: 'any' }) as Field;
  return opened;
};

/** The alternatives of a field of the request. Empty: the request has no such field. */
export const fieldAt = (path: readonly string[]): Field[] =>
  path.reduce((fields, key) => fields.flatMap((field) => childrenOf(field, key)), alternativesOf(schema()));

/** References and unions resolved. */
function alternativesOf(field: Field): Field[] {
  const { $ref, anyOf, oneOf, ...rest } = field;
  if ($ref !== undefined) {
    const target = schema().$defs?.[$ref.replace('#/$defs/', '')];
    return target === undefined ? [] : alternativesOf({ ...(target as Field), ...rest });
  }
  const branches = (anyOf ?? oneOf) as Field[] | undefined;
  return branches === undefined ? [field] : branches.flatMap((branch) => alternativesOf({ ...rest, ...branch }));
}

function childrenOf({ type, properties, additionalProperties, items }: Field, key: string): Field[] {
  const named = properties && Object.hasOwn(properties, key) ? properties[key] : undefined;
  const child = named ?? (type === 'array' && /^\d+$/.test(key) ? items : additionalProperties);
  return typeof child === 'object' ? alternativesOf(child as Field) : [];
}

/** Whether a field takes the type of a value. The wire schema checks the bounds of the value later. */
export const takes = (fields: readonly Field[], value: unknown): boolean =>
  fields.some(({ type, const: only, enum: choices }) => {
    if (choices !== undefined) return choices.some((choice) => choice === value);
    if (only !== undefined) return only === value;
    return type === 'integer' ? Number.isInteger(value) : type === typeOf(value);
  });

const typeOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

export interface NamedField {
  path: string;
  description: string;
  /** For example `high`; empty when any value may fit. */
  choices: string[];
  kind: 'value' | 'list' | 'names';
}

/** All fields with a name of their own: no items of lists. `names`: the caller chooses the keys. */
export const listFields = (): NamedField[] => namedBelow([], alternativesOf(schema()));

function namedBelow(path: readonly string[], fields: readonly Field[]): NamedField[] {
  const keys = [...new Set(fields.flatMap(({ properties = {} }) => Object.keys(properties)))];
  const below = keys.flatMap((key) => namedBelow([...path, key], fieldAt([...path, key])));
  if (below.length > 0) return below;
  const kind = takes(fields, []) ? 'list' : takes(fields, {}) ? 'names' : 'value';
  const description = fields.find((field) => field.description !== undefined)?.description ?? '';
  return [{ path: path.join('.'), description, choices: kind === 'value' ? choicesOf(fields) : [], kind }];
}

function choicesOf(fields: readonly Field[]): string[] {
  const choices = fields.flatMap((field) => {
    if (field.type === 'boolean' && field.const === undefined) return [true, false];
    return field.enum ?? (field.const === undefined ? [] : [field.const]);
  });
  return [...new Set(choices.map(String))];
}

/** The known paths nearest to an unknown path: keys of the same object first. */
export function nearestPaths(path: readonly string[]): string[] {
  const unknown = path.findIndex((_, at) => fieldAt(path.slice(0, at + 1)).length === 0);
  const before = path.slice(0, unknown);
  const siblings = fieldAt(before).flatMap(({ properties = {} }) => Object.keys(properties));
  if (before.length === 0 || siblings.length === 0) {
    return nearestNames(path.join('.'), [...new Set([...siblings, ...listFields().map((field) => field.path)])]);
  }
  return nearestNames(path[unknown] ?? '', siblings).map((name) => [...before, name].join('.'));
}
