import { expect, test } from 'vitest';
import { toJsonSchema } from '../json-schema.ts';
import { outsideInput } from './from-json-schema.ts';

const nested = (levels: number): object => (levels === 0 ? {} : { a: nested(levels - 1), b: nested(0) });

test('arguments are checked, nothing is filled in, and the schema is shown as it is', () => {
  const given = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: {
      path: { type: 'string', pattern: '^/' },
      times: { type: 'integer', default: 2 },
      pattern: { type: 'string' },
    },
    required: ['path'],
  };
  const schema = outsideInput(given);
  expect(schema.safeParse({ path: 'a' })).toEqual({ success: true, data: { path: 'a' } });
  expect(schema.safeParse({ path: 1 }).error?.issues[0]?.path).toEqual(['path']);
  expect(schema.safeParse({ path: 'a', pattern: 1 }).error?.issues[0]?.path).toEqual(['pattern']);
  expect(schema.safeParse({}).success).toBe(false);
  expect(toJsonSchema(schema)).toMatchObject({ properties: given.properties, required: ['path'] });
});

test.each<[string, object, unknown]>([
  [
    'a pattern that backtracks',
    { properties: { a: { type: 'string', pattern: '^(a+)+$' } } },
    { a: `${'a'.repeat(60)}!` },
  ],
  ['a pattern of names', { patternProperties: { '^(a+)+$': {} } }, { [`${'a'.repeat(60)}!`]: 1 }],
  [
    'references that double at each level',
    {
      $defs: {
        t: { anyOf: [{ $ref: '#/$defs/u' }, { $ref: '#/$defs/u' }] },
        u: { properties: { a: { $ref: '#/$defs/t' } }, required: ['c'] },
      },
      $ref: '#/$defs/t',
    },
    nested(40),
  ],
  [
    'a set of objects',
    { properties: { a: { type: 'array', uniqueItems: true } } },
    { a: Array.from({ length: 20_000 }, (_, n) => ({ n })) },
  ],
  ['a reference that leads out', { properties: { a: { $ref: 'https://example.com/a' } } }, { a: 1 }],
  ['a form that ajv does not know', { properties: { a: { type: 'text' } } }, { a: 1 }],
  ['a keyword that does not exist', { 'x-order': 1, properties: { a: { widget: 'date', format: 'x' } } }, { a: 1 }],
])('%s is not followed, and refuses nothing', (_, schema, args) => {
  const input = outsideInput({ type: 'object', ...schema });
  expect(input.safeParse(args).success).toBe(true);
});

test('an input that is no object is refused', () => {
  expect(() => outsideInput({ type: 'string' })).toThrow('not an object');
});
