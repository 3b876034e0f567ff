import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadToolsets } from '../../custom/load-toolsets.ts';
import { toJsonSchema } from '../../json-schema.ts';
import { createRegistry } from '../../registry/registry.ts';
import { sage } from './toolset.ts';

const registry = createRegistry([sage]);

// covers S4-01, S4-11
test('each tool has a name, a description, both schemas and a version', () => {
  expect(sage.tools.map(({ name }) => name)).toEqual(['Read', 'Write', 'Edit', 'Bash', 'GraphQuery']);
  for (const { name, description, input, output, version } of sage.tools) {
    expect(description).not.toBe('');
    expect(version).toBe(name === 'GraphQuery' ? '1.1.0' : '1.0.0');
    expect(toJsonSchema(input)).toMatchObject({ type: 'object', additionalProperties: false });
    expect(output && toJsonSchema(output)).toMatchObject({ type: 'object', additionalProperties: false });
  }
});

// covers S4-01
test.each([
  ['Read', ['file']],
  ['Write', ['file', 'content']],
  ['Edit', ['file', 'patch']],
  ['Bash', ['command']],
  ['GraphQuery', ['query']],
])('%s requires %j', (name, required) => {
  expect(registry.list('sage').find((one) => one.name === name)?.input_schema.required).toEqual(required);
});

// covers S4-05
test.each([
  ['Read', { file: './a' }, 'read', [{ path: 'a', access: 'read' }]],
  ['Write', { file: 'a/../b', content: '' }, 'workspace', [{ path: 'b', access: 'write', written: 'a/../b' }]],
  ['Edit', { file: 'a', patch: 'x', strategy: 'check' }, 'read', [{ path: 'a', access: 'read' }]],
  ['Bash', { command: 'ls' }, 'workspace', []],
  ['GraphQuery', { query: 'x' }, 'read', []],
] as const)('the gate sees what %s %j touches', (tool, args, effect, paths) => {
  expect(registry.describe({ toolset: 'sage', tool, args })).toMatchObject({ effect, touches: { paths } });
});

// covers S4-41
test('rules are those of the settings', () => {
  const names = (settings: object) => registry.rules('sage', settings).rules.map(({ name }) => name);
  expect(names({ bash_allowlist: ['git', 'env'] })).toEqual([
    'allows-git',
    'allows-git',
    'allows-env',
    'bash-allowlist',
  ]);
  expect(names({ bash_allowlist: [] })).toEqual(['bash-allowlist']);
});

// covers S4-71
test('no tool asks a person by itself', () => {
  expect(registry.list('sage').map(({ asks }) => asks)).toEqual(['no', 'no', 'no', 'no', 'no']);
});

// covers S4-41, S4-45, S4-72
test('settings are strict and have defaults', () => {
  expect(sage.settings?.parse({})).toEqual({
    env: {},
    bash_allowlist: 'git node npm npx tsc python3 ls cat grep echo true false pwd env'.split(' '),
    deterministic_commands: [],
    limits: {
      timeoutMs: 120_000,
      toolTimeoutMs: {},
      maxOutputBytes: 1_048_576,
      maxFileBytes: 10_485_760,
      maxCommandFileBytes: 1_073_741_824,
      cpuSeconds: 120,
    },
  });
  for (const wrong of [
    { allowlist: [] },
    { bash_allowlist: ['git status'] },
    { bash_allowlist: ['*'] },
    { env: { 'A-B': '1' } },
    { env: { A: '\0' } },
    { limits: { timeout: 1 } },
    { limits: { maxFileBytes: 0 } },
    { limits: { toolTimeoutMs: { Read: 1 } } },
  ]) {
    expect(sage.settings?.safeParse(wrong).success).toBe(false);
  }
});

// covers S4-95
test('a module adds tools, which have the results and the gate of the others', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hp-sage-'));
  const module = join(folder, 'more.mjs');
  await writeFile(
    module,
    `export default { addsTo: 'sage', tools: [{
      name: 'Count', description: 'Counts the bytes of a file.', version: '2.1.0', effect: 'read', risk: 'low',
      input: { type: 'object', properties: { file: { type: 'string' } }, required: ['file'], additionalProperties: false },
      touches: ({ file }) => ({ paths: [{ path: file, access: 'read' }] }),
      execute: async () => ({ status: 'succeeded', value: { bytes: 3 } }),
    }] };`,
  );
  const { toolsets } = await loadToolsets([module], folder, [sage]);
  await rm(folder, { recursive: true });
  const more = createRegistry(toolsets);
  expect(more.list('sage').at(-1)).toMatchObject({ name: 'Count', version: '2.1.0' });
  expect(more.describe({ toolset: 'sage', tool: 'Count', args: { file: 'a' } })).toMatchObject({
    touches: { paths: [{ path: 'a' }] },
  });
  expect(more.grants('sage')).toEqual(registry.grants('sage'));
});
