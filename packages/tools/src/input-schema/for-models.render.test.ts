import { expect, test } from 'vitest';
import { z } from 'zod';
import { toJsonSchema } from '../json-schema.ts';
import { createRegistry } from '../registry/registry.ts';
import { everyToolset } from '../toolsets/every-toolset.ts';
import { holdpoint } from '../toolsets/holdpoint/toolset.ts';
import { forModels } from './for-models.ts';

const registry = createRegistry(everyToolset);

test('a model reads no bound that it keeps to anyway', () => {
  const input = z.strictObject({
    name: z
      .string()
      .min(1)
      .max(200)
      .regex(/^[a-z]+$/),
    lines: z.int().min(1).max(10_000).default(2000),
    offset: z.int().min(0).default(0),
    wide: z.boolean().default(false),
    choices: z.array(z.string().max(9)).min(2).max(10),
    paths: z.array(z.string()).min(1).max(500),
    more: z.record(z.string(), z.union([z.string().max(9), z.number().min(3)])).default({}),
  });
  expect(forModels(toJsonSchema(input))).toEqual({
    type: 'object',
    properties: {
      name: { type: 'string' },
      lines: { type: 'integer', maximum: 10_000, default: 2000 },
      offset: { type: 'integer', default: 0 },
      wide: { type: 'boolean' },
      choices: { type: 'array', items: { type: 'string' }, minItems: 2, maxItems: 10 },
      paths: { type: 'array', items: { type: 'string' } },
      more: { type: 'object', additionalProperties: { anyOf: [{ type: 'string' }, { type: 'number', minimum: 3 }] } },
    },
    required: ['name', 'choices', 'paths'],
    additionalProperties: false,
  });
});

test('an argument keeps its name when it is that of a bound', () => {
  const names = ['pattern', 'format', 'default', 'minimum', 'maxLength', 'items', 'properties', 'anyOf'];
  const input = z.strictObject(Object.fromEntries(names.map((name) => [name, z.string().max(9)])));
  const nested = z.strictObject({ list: z.array(input) });
  const plain = { type: 'object', required: names, additionalProperties: false };
  const expected = { ...plain, properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])) };
  expect(forModels(toJsonSchema(input))).toEqual(expected);
  expect(forModels(toJsonSchema(nested))).toMatchObject({ properties: { list: { items: expected } } });
});

/** The names, the types, the choices and the required arguments of a schema, at every depth. */
function shape(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shape);
  if (typeof value !== 'object' || value === null) return null;
  const { properties, items, required, type, enum: choices } = value as Record<string, unknown>;
  const inner = Object.entries((properties ?? {}) as object).map(([name, one]) => [name, shape(one)]);
  return { type, choices, required, items: items && shape(items), properties: Object.fromEntries(inner) };
}

test('a model reads every argument of the tools of Holdpoint, and the API has every bound', () => {
  const run = { model: 'test/model', settings: { editing: 'all' }, plans: true, remembers: true };
  const [listed, offered] = [registry.list('holdpoint', run), registry.offer('holdpoint', run)];
  expect(offered).toHaveLength(holdpoint.tools.length - 1);
  expect(offered.map(({ name, description }) => [name, description])).toEqual(
    listed.map(({ name, description }) => [name, description]),
  );
  const whole = new Map(listed.map(({ name, input_schema }) => [name, input_schema]));
  for (const { name, parameters } of offered) {
    if (name === 'task') continue;
    expect(shape(parameters), name).toEqual(shape(whole.get(name)));
    expect(JSON.stringify(parameters), name).not.toMatch(/"(?:minLength|maxLength|propertyNames)":/);
  }
  expect(whole.get('read_file')).toMatchObject({ properties: { path: { minLength: 1, maxLength: 4096 } } });
  expect(whole.get('rename')).toMatchObject({ properties: { new_name: { pattern: expect.any(String) } } });
});

test('a model reads the form of a plan of task in words, and a plan of this form is a call', () => {
  const task = registry.offer('holdpoint', { model: 'test/model' }).find(({ name }) => name === 'task');
  const description = expect.stringContaining('{"steps": [{"tool", "args"}], "on_error": "stop" or "continue"}');
  expect(task?.parameters).toMatchObject({ properties: { plan: { description, type: 'array' } } });
  expect(task?.parameters).not.toHaveProperty('$defs');
  const call = (args: object) => registry.describe({ toolset: 'holdpoint', tool: 'task', args: args as never });
  const steps = [{ tool: 'bash', args: { command: 'ls' } }];
  expect(call({ description: 'look', plan: [{ steps, on_error: 'continue' }] })).toMatchObject({ ok: true });
  expect(call({ description: 'look', plan: [{ tool: 'bash' }] })).toMatchObject({
    ok: false,
    error: { code: 'EINVALIDARGS' },
  });
});

test.each([
  ['read_file', { path: 'x'.repeat(4097) }, 'path'],
  ['read_file', { path: 'a', offset: 0 }, 'offset'],
  ['rename', { path: 'a', line: 1, symbol: 'x', new_name: 'a b' }, 'new_name'],
  ['todo_write', { todos: [{ content: 'x'.repeat(501), status: 'pending' }] }, 'todos'],
  ['ask_user', { question: '' }, 'question'],
  ['multi_edit', { path: 'a', edits: [] }, 'edits'],
])(
  'a call of %s outside of a bound that its model does not read is refused by the name of the argument',
  (tool, args, name) => {
    const described = registry.describe({ toolset: 'holdpoint', tool, args });
    expect(described).toMatchObject({ ok: false, error: { code: 'EINVALIDARGS' } });
    expect(JSON.stringify(described)).toContain(name);
  },
);

test('a model reads the schemas of all other toolsets word for word', () => {
  for (const toolset of registry.toolsets().filter((name) => name !== 'holdpoint')) {
    const listed = registry.list(toolset).map(({ name, input_schema }) => [name, input_schema]);
    expect(registry.offer(toolset, {}).map(({ name, parameters }) => [name, parameters])).toEqual(listed);
  }
});
