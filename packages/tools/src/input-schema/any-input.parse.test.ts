import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import { toJsonSchema } from '../json-schema.ts';
import { type AnyInput, asZod } from './from-json-schema.ts';

const zod4 = z.strictObject({ path: z.string().min(1), times: z.int().default(2) });
const jsonSchema = {
  type: 'object',
  properties: { path: { type: 'string', minLength: 1 }, times: { type: 'integer', default: 2 } },
  required: ['path'],
  additionalProperties: false,
};
/** Any library of Standard Schema has no more than this. */
const standard = { '~standard': zod4['~standard'] };
const { jsonSchema: _, ...unconverted } = zod4['~standard'];

const kinds: [string, AnyInput][] = [
  ['zod 4', zod4],
  ['zod 3', z3.strictObject({ path: z3.string().min(1), times: z3.number().int().default(2) })],
  ['Standard Schema that converts itself', standard as AnyInput],
  ['Standard Schema with its JSON Schema', { standard: { '~standard': unconverted }, jsonSchema } as AnyInput],
  ['JSON Schema', jsonSchema],
  ['JSON Schema of draft 7', { $schema: 'http://json-schema.org/draft-07/schema#', ...jsonSchema }],
];

describe.each(kinds)('%s', (_name, input) => {
  const schema = asZod(input);

  it('fills in defaults and changes nothing of the input', () => {
    const args = { path: 'a' };
    expect(schema.safeParse(args)).toEqual({ success: true, data: { path: 'a', times: 2 } });
    expect(args).toEqual({ path: 'a' });
  });

  it.each([
    ['a missing parameter', {}, /path/],
    ['another type', { path: 1 }, /path/],
    ['a number as text', { path: 'a', times: '2' }, /times/],
    ['an unknown parameter', { path: 'a', force: true }, /force/],
    ['no object', 'a', /./],
  ])('refuses %s and names it', (_what, args, named) => {
    const { error } = schema.safeParse(args);
    expect(JSON.stringify(error?.issues)).toMatch(named);
  });

  it('has its JSON Schema', () => {
    const shown = toJsonSchema(schema);
    expect(shown).toMatchObject({ type: 'object', required: ['path'], properties: { path: { type: 'string' } } });
    expect(shown).not.toHaveProperty('$schema');
  });
});

it.each<[string, AnyInput, RegExp]>([
  ['zod 4 inside zod 3', z3.object({ a: z.string() as never }), /cannot parse/],
  ['a Standard Schema without JSON Schema', { '~standard': unconverted } as AnyInput, /does not convert itself/],
  [
    'a schema that validates asynchronously',
    { standard: { '~standard': { ...unconverted, validate: async () => ({ value: 1 }) } }, jsonSchema } as AnyInput,
    /asynchronously/,
  ],
  ['a keyword that JSON Schema does not have', { type: 'object', propertys: {} }, /propertys/],
  ['a format that ajv does not know', { type: 'object', properties: { a: { type: 'string', format: 'x' } } }, /format/],
  ['a reference that leads out', { type: 'object', properties: { a: { $ref: 'https://example.com/a' } } }, /example/],
])('refuses %s', (_name, input, why) => {
  expect(() => asZod(input)).toThrow(why);
});

it('validates formats and nested objects, and names the place', () => {
  const schema = asZod({
    type: 'object',
    properties: {
      to: { type: 'object', properties: { mail: { type: 'string', format: 'email' } } },
      'a/b': { enum: [1] },
    },
  });
  expect(schema.safeParse({ to: { mail: 'me' }, 'a/b': 2 }).error?.issues.map(({ path }) => path)).toEqual([
    ['to', 'mail'],
    ['a/b'],
  ]);
});
