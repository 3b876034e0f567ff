import { expect, test } from 'vitest';
import { toJsonSchema } from '../../json-schema.ts';
import { createRegistry } from '../../registry/registry.ts';
import { workbench } from './toolset.ts';

const registry = createRegistry([workbench]);
const names = [
  ...['list_directory', 'read_file', 'write_file', 'delete_file', 'move_file'],
  ...['run_code', 'web_fetch', 'web_search'],
];

// covers S2-01
test('each tool has a name, a description and both schemas', () => {
  expect(workbench.tools.map(({ name }) => name)).toEqual(names);
  for (const { description, input, output } of workbench.tools) {
    expect(description).not.toBe('');
    expect(toJsonSchema(input)).toMatchObject({ type: 'object', additionalProperties: false });
    expect(output && toJsonSchema(output)).toMatchObject({ type: 'object', additionalProperties: false });
  }
});

// covers S2-01, S2-40
test('some tools never ask, one always does, and some look first', () => {
  const kinds = workbench.tools.map(({ asks }) => typeof asks);
  expect(kinds).toEqual([
    ...['undefined', 'undefined', 'function', 'boolean', 'function'],
    ...['undefined', 'function', 'undefined'],
  ]);
});

// covers S2-06
test('the form of OpenAI functions is bare', () => {
  const form = workbench.forms?.['openai-functions']?.(registry.list('workbench')) ?? [];
  expect(form).toHaveLength(names.length);
  expect(form[1]).toEqual({
    name: 'read_file',
    description: expect.any(String),
    parameters: expect.objectContaining({ type: 'object', required: ['path'] }),
  });
  expect(form[1]).toMatchObject({ parameters: { properties: { encoding: { enum: ['utf-8', 'base64'] } } } });
});

// covers S2-01
test.each([
  ['list_directory', ['path']],
  ['read_file', ['path']],
  ['write_file', ['path', 'content']],
  ['delete_file', ['path']],
  ['move_file', ['from', 'to']],
  ['run_code', ['language', 'code']],
  ['web_fetch', ['url']],
  ['web_search', ['query']],
])('%s requires %j', (name, required) => {
  const tool = registry.list('workbench').find((one) => one.name === name);
  expect(tool?.input_schema.required).toEqual(required);
});

// covers S2-91, S2-82
test('settings are strict and have defaults', () => {
  expect(workbench.settings?.parse({})).toEqual({
    url_allowlist: [],
    code_network: false,
    file_bytes: 10_485_760,
    output_bytes: 10_485_760,
    body_bytes: 5_242_880,
  });
  for (const wrong of [{ urls: [] }, { url_allowlist: ['a.test/path'] }, { url_allowlist: ['*'] }, { file_bytes: 0 }]) {
    expect(workbench.settings?.safeParse(wrong).success).toBe(false);
  }
});
