import { FileError } from '@holdpoint/contract';
import { SandboxError } from '@holdpoint/sandbox';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import { bareContext } from '../testing/bare-context.ts';
import { defineToolset } from '../toolset.ts';
import { clemini } from '../toolsets/clemini/toolset.ts';
import { cliAgent } from '../toolsets/cli-agent/toolset.ts';
import { holdpoint } from '../toolsets/holdpoint/toolset.ts';
import { ryan } from '../toolsets/ryan/toolset.ts';
import { sage } from '../toolsets/sage/toolset.ts';
import { workbench } from '../toolsets/workbench/toolset.ts';
import { createRegistry } from './registry.ts';
import { formats } from './render-definitions.ts';

const copy = defineTool({
  name: 'copy_text',
  description: 'Copies.',
  risk: 'medium',
  input: z.strictObject({
    to: z.enum(['file', 'mail']),
    times: z.int().max(9).default(1),
    'a/b~c': z.string().optional(),
  }),
  effect: ({ to }) => (to === 'mail' ? 'external' : 'workspace'),
  execute: async (_context, args) => ({ status: 'succeeded', value: args }),
});

function failing(error: Error) {
  return defineTool({
    name: 'fail',
    description: 'Fails.',
    effect: 'read',
    risk: 'low',
    input: z.strictObject({}),
    execute: () => Promise.reject(error),
    preview: () => Promise.reject(error),
  });
}

const registry = createRegistry([holdpoint, defineToolset({ name: 'office', tools: [copy] })]);
const call = (args: unknown) => ({ toolset: 'office', tool: 'copy_text', args });

describe('registry.describe', () => {
  it('parses the arguments and returns the effect', () => {
    expect(registry.describe(call({ to: 'mail' }))).toEqual({
      ok: true,
      args: { to: 'mail', times: 1 },
      effect: 'external',
      risk: 'medium',
      touches: { paths: [], hosts: [] },
    });
    expect(registry.describe(call({ to: 'file' }))).toMatchObject({ ok: true, effect: 'workspace' });
  });

  it('marks a question to a person', () => {
    const described = registry.describe({ toolset: 'holdpoint', tool: 'ask_user', args: { question: 'Which?' } });
    expect(described).toMatchObject({ ok: true, gate: 'input', effect: 'read' });
  });

  it('lists every issue with its pointer', () => {
    expect(registry.describe(call({ to: 'fax', times: 10, 'a/b~c': 1, extra: true }))).toMatchObject({
      ok: false,
      error: { code: 'EINVALIDARGS', message: expect.stringContaining('/times: Too big') },
      issues: [
        { pointer: '/to', detail: expect.stringContaining('"file"') },
        { pointer: '/times', detail: expect.any(String) },
        { pointer: '/a~1b~0c', detail: expect.any(String) },
        { pointer: '/extra', detail: 'unknown parameter' },
      ],
    });
  });

  it.each([undefined, null, 'text', []])('refuses %j as arguments', (args) => {
    expect(registry.describe(call(args))).toMatchObject({
      ok: false,
      error: { code: 'EINVALIDARGS' },
      issues: [{ pointer: '' }],
    });
  });

  it('names the nearest tools and toolsets', () => {
    expect(registry.describe({ toolset: 'holdpoint', tool: 'ReadFile', args: {} })).toMatchObject({
      ok: false,
      error: { code: 'EUNKNOWNTOOL', next: expect.stringMatching(/^Nearest: read_file/) },
    });
    expect(registry.describe({ toolset: 'toString', tool: 'bash', args: {} })).toMatchObject({
      ok: false,
      error: { code: 'EUNKNOWNTOOLSET', next: expect.stringContaining('holdpoint, office') },
    });
  });
});

describe('registry.execute', () => {
  it('passes the parsed arguments', async () => {
    const outcome = await registry.execute({ ...call({ to: 'file' }), context: bareContext() });
    expect(outcome).toEqual({ status: 'succeeded', value: { to: 'file', times: 1 } });
  });

  it('validates the arguments again', async () => {
    const outcome = await registry.execute({ ...call({ to: 'fax' }), context: bareContext() });
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'EINVALIDARGS' } });
  });

  const run = (error: Error, signal?: AbortSignal) =>
    createRegistry([{ name: 'bad', tools: [failing(error)] }]).execute({
      toolset: 'bad',
      tool: 'fail',
      args: {},
      context: bareContext(signal),
    });

  it('turns a file error into data', async () => {
    expect(await run(new FileError('ENOENT', 'a.txt', 'a.txt does not exist'))).toEqual({
      status: 'failed',
      error: { code: 'ENOENT', message: 'a.txt does not exist', next: expect.any(String) },
    });
  });

  it('throws errors of the infrastructure, for the queue to retry', async () => {
    const lost = new SandboxError('ETOOLHOSTLOST', 'gone', { retryable: true, next: 'Try again.' });
    await expect(run(lost)).rejects.toBe(lost);
    const bug = new TypeError('bug');
    await expect(run(bug)).rejects.toBe(bug);
  });

  it('reports an aborted call as killed', async () => {
    const outcome = await run(
      new SandboxError('ETOOLHOSTLOST', 'gone', { retryable: true, next: '' }),
      AbortSignal.abort(),
    );
    expect(outcome).toMatchObject({ status: 'killed', error: { code: 'EKILLED' } });
  });

  it('never answers a question to a person', async () => {
    const args = { question: 'Which?' };
    await expect(
      registry.execute({ toolset: 'holdpoint', tool: 'ask_user', args, context: bareContext() }),
    ).rejects.toMatchObject({
      code: 'ENEEDSPERSON',
    });
  });
});

describe('registry.preview', () => {
  const preview = (toolset: string, tool: string, args: unknown) =>
    registry.preview({ toolset, tool, args, context: bareContext() });

  it('shows a question and a command', async () => {
    expect(await preview('holdpoint', 'ask_user', { question: 'Which?', options: ['a', 'b'] })).toEqual({
      kind: 'question',
      question: 'Which?',
      options: ['a', 'b'],
    });
    expect(await preview('holdpoint', 'bash', { command: 'make', cwd: '/workspace/src/' })).toEqual({
      kind: 'command',
      command: 'make',
      cwd: 'src',
      network: [],
    });
  });

  it('returns null for a tool without a preview', async () => {
    expect(await preview('office', 'copy_text', { to: 'file' })).toBeNull();
  });

  it('shows a problem instead of throwing it', async () => {
    expect(await preview('office', 'copy_text', {})).toMatchObject({ kind: 'problem' });
    const bad = createRegistry([
      { name: 'bad', tools: [failing(new FileError('EOUTSIDE', '/etc', '/etc is outside'))] },
    ]);
    const shown = await bad.preview({ toolset: 'bad', tool: 'fail', args: {}, context: bareContext() });
    expect(shown).toEqual({ kind: 'problem', message: '/etc is outside' });
  });
});

describe('registry.list', () => {
  it('defines every tool with an object schema', () => {
    const tools = registry.list('holdpoint');
    expect(tools.map(({ name }) => name)).toEqual([
      'read_file',
      'write_file',
      'edit',
      'multi_edit',
      'apply_patch',
      'list_directory',
      'glob',
      'grep',
      'code_graph',
      'definition',
      'references',
      'rename',
      'bash',
      'task',
      'task_output',
      'task_input',
      'kill_shell',
      'screenshot',
      'task_merge',
      'web_fetch',
      'web_search',
      'ask_user',
      'todo_write',
      'recall',
      'remember',
      'submit_plan',
    ]);
    for (const { input_schema } of tools) {
      expect(input_schema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(Object.keys(input_schema.properties as object)).not.toHaveLength(0);
    }
    expect(registry.list('office')[0]).toMatchObject({ effect: 'by run', input_schema: { required: ['to'] } });
  });

  it('names the tools for background tasks, and none where a toolset has none', () => {
    expect(registry.taskTools('holdpoint')).toEqual({ waits: 'task_output', ends: 'kill_shell' });
    expect(registry.taskTools('office')).toEqual({});
  });

  it('hides tools that ask a person from a sub-agent, and refuses their calls', () => {
    const names = registry.list('holdpoint', { unattended: true }).map(({ name }) => name);
    expect(names).not.toContain('ask_user');
    expect(names).not.toContain('submit_plan');
    expect(names).toHaveLength(registry.list('holdpoint').length - 2);
    const call = { toolset: 'holdpoint', tool: 'ask_user', args: { question: 'Which?' } };
    expect(registry.describe({ ...call, unattended: true })).toMatchObject({ ok: false, error: { code: 'ENOPERSON' } });
    expect(registry.describe(call)).toMatchObject({ ok: true, gate: 'input' });
  });

  it.each(['holdpoint', 'workbench', 'clemini'])('%s: offers no web to a run without a network', (toolset) => {
    const all = createRegistry([holdpoint, workbench, clemini]);
    const names = (network: boolean) => all.list(toolset, { network }).map(({ name }) => name);
    const left = names(true).filter((name) => !names(false).includes(name));
    expect(left.toSorted()).toEqual(['web_fetch', 'web_search']);
    expect(all.list(toolset).map(({ name }) => name)).toEqual(names(true));
  });

  it('changes the version of a tool only with its interface', () => {
    const tool = (description: string, input: z.ZodObject) =>
      createRegistry([
        defineToolset({
          name: 'one',
          tools: [
            defineTool({
              ...{ name: 'go', description, effect: 'read', risk: 'low', input },
              execute: async () => ({ status: 'succeeded', value: null }),
            }),
          ],
        }),
      ]).versions('one').go;
    const first = tool('Goes.', z.strictObject({ to: z.string() }));
    expect(first).toMatch(/^[0-9a-f]{12}$/);
    expect(tool('Goes there.', z.strictObject({ to: z.string() }))).toBe(first);
    expect(tool('Goes.', z.strictObject({ to: z.string(), fast: z.boolean().optional() }))).not.toBe(first);
    expect(Object.keys(registry.versions('holdpoint'))).toEqual(registry.list('holdpoint').map(({ name }) => name));
  });

  it('throws for an unknown toolset', () => {
    expect(() => registry.list('nope')).toThrow(expect.objectContaining({ code: 'EUNKNOWNTOOLSET' }));
  });

  // covers C-01
  it('has two tools of one name in two toolsets', () => {
    const named = (toolset: string, effect: 'read' | 'external') =>
      defineToolset({
        name: toolset,
        tools: [
          defineTool({
            name: 'same',
            description: 'Does something.',
            effect,
            risk: 'low',
            input: z.strictObject({}),
            execute: async () => ({ status: 'succeeded', value: toolset }),
          }),
        ],
      });
    const both = createRegistry([named('one', 'read'), named('two', 'external')]);
    const effects = ['one', 'two'].map((toolset) => both.list(toolset).map(({ effect }) => effect));
    expect(effects).toEqual([['read'], ['external']]);
  });

  it('refuses two toolsets with the same name', () => {
    expect(() => createRegistry([holdpoint, holdpoint])).toThrow(expect.objectContaining({ code: 'EINVALIDTOOL' }));
  });
});

describe('formats', () => {
  const [tool] = registry.list('office');
  const { name, description, input_schema } = tool ?? {};

  it('puts the schema into the field of each provider', () => {
    const asFunction = [{ type: 'function', function: { name, description, parameters: input_schema } }];
    expect(formats.openai(registry.list('office'))).toEqual(asFunction);
    expect(formats.ollama(registry.list('office'))).toEqual(asFunction);
    expect(formats.anthropic(registry.list('office'))).toEqual([{ name, description, input_schema }]);
  });

  it('leaves out the envelope of OpenAI in openai-functions', () => {
    expect(registry.inForm('office', 'openai-functions')).toEqual([{ name, description, parameters: input_schema }]);
  });

  it('prefers the form of the toolset', () => {
    const forms = { mcp: () => ['its own'], plain: () => ['plain'] };
    const own = createRegistry([defineToolset({ name: 'office', tools: [copy], forms })]);
    expect([own.inForm('office', 'mcp'), own.inForm('office', 'plain')]).toEqual([['its own'], ['plain']]);
    expect(own.inForm('office', 'openai')).toEqual(registry.inForm('office', 'openai'));
    expect(() => own.inForm('office', 'xml')).toThrow(
      expect.objectContaining({
        code: 'EUNKNOWNFORM',
        next: 'Use one of: openai, openai-functions, anthropic, ollama, mcp, plain.',
      }),
    );
    expect(() => own.inForm('office', 'toString')).toThrow(/no form for a provider/);
  });

  it('announces the worst effect of a tool to MCP clients', () => {
    expect(formats.mcp(registry.list('office'))).toEqual([
      {
        name,
        description,
        inputSchema: input_schema,
        annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
      },
    ]);
    const hints = Object.fromEntries(
      formats.mcp(registry.list('holdpoint')).map((tool) => [tool.name, tool.annotations]),
    );
    expect(hints.grep).toEqual({ readOnlyHint: true, destructiveHint: false, openWorldHint: false });
    expect(hints.bash).toEqual({ readOnlyHint: false, destructiveHint: true, openWorldHint: true });
  });
});

it('a command is an external effect exactly when its run has a network', () => {
  const registry = createRegistry([holdpoint]);
  const call = { toolset: 'holdpoint', tool: 'bash', args: { command: 'ls' } };
  expect(registry.describe({ ...call, network: true })).toMatchObject({ effect: 'external' });
  expect(registry.describe({ ...call, network: false })).toMatchObject({ effect: 'workspace' });
});

it('every tool that runs a command says so, in each toolset', () => {
  const toolsets = [holdpoint, cliAgent, ryan, clemini, sage, workbench];
  const registry = createRegistry(toolsets);
  const shells = toolsets.map(({ name, tools }) => {
    const running = tools.filter(({ name: tool }) => {
      const described = registry.describe({ toolset: name, tool, args: { command: 'ls' }, network: false });
      return described.ok && (described.touches.command ?? described.touches.argv) !== undefined;
    });
    expect(registry.grants(name).shells).toEqual(running.map(({ name: tool }) => tool));
    return [name, registry.grants(name).shells];
  });
  expect(Object.fromEntries(shells)).toEqual({
    ...{ holdpoint: ['bash'], 'cli-agent': ['run_in_terminal'], ryan: ['execute_bash'] },
    ...{ clemini: ['bash'], sage: ['Bash'], workbench: [] },
  });
});
