import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import { zodToJsonSchema } from 'zod-to-json-schema';
import { toJsonSchema } from './json-schema.ts';

const wanted = {
  type: 'object',
  properties: {
    path: { type: 'string', description: 'where' },
    limit: { type: 'integer', minimum: 1, maximum: 9, default: 5 },
  },
  required: ['path'],
  additionalProperties: false,
};

describe('toJsonSchema', () => {
  const native = z.strictObject({ path: z.string().describe('where'), limit: z.int().min(1).max(9).default(5) });
  const older = z3.strictObject({
    path: z3.string().describe('where'),
    limit: z3.number().int().min(1).max(9).default(5),
  });

  it('converts the input side of a zod 4 schema', () => expect(toJsonSchema(native)).toEqual(wanted));

  it('converts a zod 3 schema to the same JSON Schema', () => expect(toJsonSchema(older)).toEqual(wanted));

  it('does not convert zod 4 with zod-to-json-schema, which returns an empty schema', () => {
    const answer = zodToJsonSchema(native as never);
    expect(answer).not.toHaveProperty('properties');
    expect(answer).not.toHaveProperty('type');
    expect(toJsonSchema(native)).toHaveProperty('properties.path');
  });

  it('keeps the schema below a refinement', () => expect(toJsonSchema(native.refine(() => true))).toEqual(wanted));

  it('describes the input of a pipe, in both versions', () => {
    const text = {
      type: 'object',
      properties: { n: { type: 'string' } },
      required: ['n'],
      additionalProperties: false,
    };
    expect(toJsonSchema(z.strictObject({ n: z.string().transform(Number) }))).toEqual(text);
    expect(toJsonSchema(z3.strictObject({ n: z3.string().pipe(z3.coerce.number()) }))).toEqual(text);
  });

  it('throws for a type that JSON Schema cannot express', () =>
    expect(() => toJsonSchema(z.strictObject({ at: z.date() }))).toThrow(/date/i));
});
