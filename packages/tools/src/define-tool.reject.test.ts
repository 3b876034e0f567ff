import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import { defineTool } from './define-tool.ts';
import { toJsonSchema } from './json-schema.ts';
import type { Tool } from './tool.ts';
import { defineToolset } from './toolset.ts';

const echo = {
  name: 'echo_text',
  description: 'Returns the text.',
  effect: 'read',
  risk: 'low',
  input: z.strictObject({ text: z.string() }),
  execute: async (_context, { text }) => ({ status: 'succeeded', value: text }),
} satisfies Tool<z.ZodObject<{ text: z.ZodString }>>;

describe('defineTool', () => {
  it('returns the tool, typed by its input', () => {
    const tool = defineTool(echo);
    expect(tool).toBe(echo);
    expectTypeOf<z.output<typeof tool.input>>().toEqualTypeOf<{ text: string }>();
    expectTypeOf(tool).toExtend<Tool>();
  });

  it.each(['_echo', '-echo', '1echo', 'echo text', 'echo.text', 'écho', 'echo\n', '', 'a'.repeat(65)])(
    'refuses the name %j',
    (name) => {
      expect(() => defineTool({ ...echo, name })).toThrow(
        expect.objectContaining({ code: 'EINVALIDTOOL', retryable: false }),
      );
    },
  );

  it.each(['1.0.0', '0.12.3-rc.1+build.5'])('accepts the version %j', (version) => {
    expect(defineTool({ ...echo, version }).version).toBe(version);
  });

  it.each(['1', '1.0', 'v1.0.0', '01.0.0', '1.0.0-', ''])('refuses the version %j', (version) => {
    expect(() => defineTool({ ...echo, version })).toThrow(/not a semantic version/);
  });

  it('refuses an output without a JSON Schema', () => {
    expect(() => defineTool({ ...echo, output: z.date() })).toThrow(/its output has no JSON Schema/);
  });

  it.each(['Read', 'GraphQuery2', 'echo-text', 'echo_', 'a'.repeat(64)])('takes the name %j', (name) => {
    expect(defineTool({ ...echo, name }).name).toBe(name);
  });

  it('refuses an empty description', () => {
    expect(() => defineTool({ ...echo, description: ' \n' })).toThrow(/description is empty/);
  });

  it.each([
    ['a string', z.string()],
    ['an array', z.array(z.string())],
    ['a union of objects', z.union([z.strictObject({ a: z.string() }), z.strictObject({ b: z.string() })])],
    ['an object with a date', z.strictObject({ at: z.date() })],
  ])('refuses %s as input', (_name, input) => {
    const execute = async () => ({ status: 'succeeded', value: null }) as const;
    expect(() => defineTool({ ...echo, input, execute })).toThrow(expect.objectContaining({ code: 'EINVALIDTOOL' }));
  });
});

describe('defineTool with a zod 3 schema', () => {
  const tool = defineTool({
    name: 'count',
    description: 'Counts.',
    risk: 'low',
    input: z3.strictObject({ from: z3.object({ n: z3.number().int() }), by: z3.number().default(2) }),
    effect: ({ by }) => (by > 0 ? 'read' : 'external'),
    execute: async (_context, { from, by }) => ({ status: 'succeeded', value: from.n + by }),
  });

  it('parses with the zod 3 schema, defaults included', () => {
    expect(tool.input.safeParse({ from: { n: 1 } })).toEqual({ success: true, data: { from: { n: 1 }, by: 2 } });
  });

  it('reports its issues with their paths', () => {
    const issues = tool.input.safeParse({ from: { n: 1.5 }, to: 3 }).error?.issues;
    expect(issues?.map(({ path, message }) => ({ path, message }))).toEqual([
      { path: ['from', 'n'], message: 'Expected integer, received float' },
      { path: [], message: "Unrecognized key(s) in object: 'to'" },
    ]);
  });

  it('shows its JSON Schema to callers', () => {
    expect(toJsonSchema(tool.input)).toMatchObject({ type: 'object', required: ['from'], additionalProperties: false });
    expect(toJsonSchema(tool.input)).toHaveProperty('properties.from.properties.n.type', 'integer');
  });
});

describe('defineToolset', () => {
  it.each(['Echo', 'echo-text', 'echo__text', 'echo_'])('refuses the name %j in holdpoint', (name) => {
    expect(() => defineToolset({ name: 'holdpoint', tools: [{ ...echo, name }] })).toThrow(/not in snake_case/);
    expect(defineToolset({ name: 'other', tools: [{ ...echo, name }] }).tools).toHaveLength(1);
  });

  it('refuses two tools with the same name', () => {
    expect(() => defineToolset({ name: 'twice', tools: [echo, { ...echo }] })).toThrow(/two tools named "echo_text"/);
  });
});
