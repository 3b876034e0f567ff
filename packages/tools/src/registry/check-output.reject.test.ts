import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import type { Tool, ToolContext } from '../tool.ts';
import { defineToolset } from '../toolset.ts';
import { holdpoint } from '../toolsets/holdpoint/toolset.ts';
import { createRegistry } from './registry.ts';

const base = {
  name: 'Count',
  description: 'Counts.',
  effect: 'read',
  risk: 'low',
  input: z.strictObject({ n: z.json().optional() }),
  output: z.strictObject({ n: z.int() }),
  execute: async (_context: ToolContext, { n }: { n?: unknown }) => ({
    status: 'succeeded' as const,
    value: { n },
    touched: ['a'],
  }),
} satisfies Tool;
const context = { signal: new AbortController().signal, settings: {} } as ToolContext;

function registryOf(tool: Partial<Tool>) {
  const logged: object[] = [];
  const log = { error: (fields: object) => logged.push(fields) };
  const toolset = defineToolset({ name: 'native', tools: [defineTool({ ...base, ...tool } as Tool)] });
  return { logged, registry: createRegistry([toolset], { log }) };
}

// covers C-13
describe('the output schema of a tool', () => {
  it('lets the value through that fits', async () => {
    const { registry } = registryOf({});
    const outcome = await registry.execute({ toolset: 'native', tool: 'Count', args: { n: 1 }, context });
    expect(outcome).toEqual({ status: 'succeeded', value: { n: 1 }, touched: ['a'] });
  });

  it('makes any other value a failure, and drops it', async () => {
    const { registry, logged } = registryOf({});
    const outcome = await registry.execute({ toolset: 'native', tool: 'Count', args: { n: 'secret' }, context });
    expect(outcome).toEqual({
      status: 'failed',
      error: expect.objectContaining({ code: 'EBADOUTPUT', message: expect.stringContaining('/n') }),
      touched: ['a'],
      capabilities: undefined,
    });
    expect(JSON.stringify(outcome)).not.toContain('secret');
    expect(logged).toEqual([expect.objectContaining({ toolset: 'native', tool: 'Count' })]);
  });

  it('holds for what an answer becomes', () => {
    const question = { gate: 'input', answer: (_: unknown, words: string) => ({ n: Number(words) }) } as const;
    const { registry } = registryOf(question);
    const call = { toolset: 'native', tool: 'Count', args: {} };
    expect(registry.answer(call, '2')).toEqual({ value: { n: 2 } });
    expect(registry.answer(call, 'two')).toMatchObject({ error: { code: 'EBADOUTPUT' } });
  });

  it('leaves the words as they are when the tool throws', () => {
    const answer = () => {
      throw new Error('bug');
    };
    const { registry, logged } = registryOf({ gate: 'input', output: undefined, answer });
    const call = { toolset: 'native', tool: 'Count', args: {} };
    expect(registry.answer(call, 'two')).toEqual({ value: { answer: 'two' } });
    expect(logged).toHaveLength(1);
  });

  it('is part of the digest of the tool, and so is its major version', () => {
    const versionOf = (tool: Partial<Tool>) => registryOf(tool).registry.versions('native').Count;
    const versions = [
      {},
      { output: z.string() },
      { output: undefined },
      { version: '1.0.0' },
      { version: '2.0.1' },
    ].map(versionOf);
    expect(new Set(versions).size).toBe(5);
    expect(versionOf({ label: 'safe', description: 'Other words.' })).toBe(versions[0]);
  });

  it('stands in the definition, with label, version and what the tool asks', () => {
    const { registry } = registryOf({ version: '1.2.3', label: 'read_only', asks: async () => undefined });
    expect(registry.list('native')).toEqual([
      expect.objectContaining({
        ...{ name: 'Count', version: '1.2.3', label: 'read_only', asks: 'look' },
        output_schema: expect.objectContaining({ type: 'object', required: ['n'] }),
      }),
    ]);
    expect(registryOf({ asks: true }).registry.list('native')[0]).toMatchObject({ asks: 'yes', label: 'low' });
  });
});

describe('the toolset holdpoint', () => {
  it('has names in snake case, and versions that are digests of input and effect alone, as before', () => {
    const registry = createRegistry([holdpoint]);
    const versions = registry.versions('holdpoint');
    expect(Object.keys(versions).filter((name) => !/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(name))).toEqual([]);
    const [tool] = registry.list('holdpoint');
    const before = JSON.stringify([tool?.name, tool?.input_schema, tool?.effect, null]);
    expect(versions.read_file).toBe(createHash('sha256').update(before).digest('hex').slice(0, 12));
  });
});
