import type { Json } from '@holdpoint/contract';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool as defineHoldpointTool } from '../define-tool.ts';
import { defineToolset } from '../toolset.ts';
import {
  addProperty,
  addRequired,
  type BackendCall,
  type CallBackend,
  createCliAgentTools,
  createRyanRegistry,
  createSageRegistry,
  createSageToolset,
  createWorkbenchRegistry,
  defineTool,
  type GraphPort,
  newSchema,
  type RyanTool,
  ToolError,
} from './index.ts';

const read = defineHoldpointTool({
  name: 'Read',
  description: 'Reads.',
  effect: 'read',
  risk: 'low',
  label: 'read_only',
  input: z.strictObject({ path: z.string() }),
  touches: ({ path }) => ({ paths: [{ path, access: 'read' as const }] }),
  execute: async () => ({ status: 'succeeded', value: null }),
});
const toolset = defineToolset({
  name: 'files',
  tools: [read, { ...read, name: 'Write', effect: 'workspace', label: 'safe_write', asks: true }],
});

/** Answers with what it was asked. */
function echo(): CallBackend & { calls: BackendCall[] } {
  const calls: BackendCall[] = [];
  return {
    calls,
    async call(call) {
      calls.push(call);
      return { tool: call.tool, args: call.args };
    },
  };
}

describe('ryan', () => {
  const shout: RyanTool = {
    name: 'shout',
    description: 'Shouts.',
    schema: addRequired(addProperty(newSchema(), 'text', { type: 'string' }), 'text'),
    execute: (_context, { text }) => ({ success: true, content: String(text).toUpperCase() }),
  };
  const registry = () => createRyanRegistry(echo(), { toolset });
  const metadata = (tool_name: string, parameters: Json) => ({
    execution_time: expect.any(Number),
    start_time: expect.stringMatching(/Z$/),
    end_time: expect.stringMatching(/Z$/),
    ...{ tool_name, parameters },
  });

  // covers S1-02
  it('registers, lists, gets and unregisters', () => {
    const tools = registry();
    tools.register(shout);
    tools.registerBuiltinTools();
    expect(tools.list()).toEqual(['shout', 'Read', 'Write']);
    expect(tools.get('shout')).toEqual({ tool: shout, found: true });
    tools.unregister('shout');
    expect(tools.get('shout')).toEqual({ tool: undefined, found: false });
  });

  it('refuses a duplicate, nothing, and a name that is not there', () => {
    const tools = registry();
    tools.register(shout);
    expect(() => tools.register(shout)).toThrow(ToolError);
    expect(() => tools.register(null)).toThrow(/nil/);
    expect(() => tools.unregister('nope')).toThrow(ToolError);
    tools.registerBuiltinTools();
    expect(() => tools.registerBuiltinTools()).toThrow(/already registered/);
  });

  // covers S1-50
  it('gives tools of its own the same metadata, failures too', async () => {
    const tools = registry();
    tools.register(shout);
    tools.register({ ...shout, name: 'fail', execute: () => Promise.reject(new Error('broken')) });
    const done = await tools.execute({ name: 'shout', parameters: { text: 'a' } });
    expect(done).toEqual({ success: true, content: 'A', metadata: metadata('shout', { text: 'a' }) });
    const failures = [
      [{ name: 'nope' }, /^tool not found: nope$/],
      [{ name: 'shout' }, /text/],
      [{ name: 'shout', parameters: { text: 1 } }, /text/],
      [{ name: 'shout', parameters: { text: 'a', loud: true } }, /loud/],
      [{ name: 'fail', parameters: { text: 'a' } }, /^tool 'fail': execution failed: broken$/],
    ] as const;
    for (const [request, error] of failures) {
      expect(await tools.execute(request)).toEqual({
        ...{ success: false, content: '', error: expect.stringMatching(error) },
        metadata: metadata(request.name, 'parameters' in request ? request.parameters : {}),
      });
    }
  });

  it('ends a tool whose call is canceled', async () => {
    const tools = registry();
    tools.register({ ...shout, execute: () => new Promise(() => {}) });
    const ending = new AbortController();
    const result = tools.execute({ name: 'shout', parameters: { text: 'a' } }, { signal: ending.signal });
    ending.abort();
    expect(await result).toMatchObject({ success: false, error: 'canceled' });
    expect(await tools.execute({ name: 'shout', parameters: { text: 'a' } }, { signal: ending.signal })).toMatchObject({
      error: 'canceled',
    });
  });

  it('starts asynchronous calls beside each other, while tools are registered and unregistered', async () => {
    const tools = registry();
    const together = Promise.withResolvers<void>();
    let running = 0;
    tools.register({
      ...shout,
      async execute(_context, { text }) {
        running += 1;
        if (running === 50) together.resolve();
        await together.promise;
        return { success: true, content: String(text) };
      },
    });
    const calls = Array.from({ length: 50 }, (_, at) =>
      tools.executeAsync({ name: 'shout', parameters: { text: `${at}` } }),
    );
    tools.unregister('shout');
    tools.register(shout);
    expect((await Promise.all(calls)).map(({ content }) => content)).toEqual(calls.map((_, at) => `${at}`));
  });

  it('sends calls of built-in tools to the backend, and says which may run together', async () => {
    const backend = echo();
    const tools = createRyanRegistry(backend, { toolset });
    tools.registerBuiltinTools();
    expect(await tools.execute({ name: 'Read', parameters: { path: 'a' } })).toEqual({
      tool: 'Read',
      args: { path: 'a' },
    });
    await tools.executeAsync({ name: 'Read', parameters: { path: 'b' } });
    expect(backend.calls.map(({ toolset: name, concurrent }) => [name, concurrent])).toEqual([
      ['files', false],
      ['files', true],
    ]);
  });

  // covers S1-40, S1-42
  it('shows tools in the form of a provider, and names the known ones', () => {
    const tools = registry();
    tools.register(shout);
    const { name, description, schema } = shout;
    expect(tools.getDefinitions('anthropic')).toEqual([{ name, description, input_schema: schema }]);
    expect(tools.convertToProvider(shout, 'openai')).toEqual({
      type: 'function',
      function: { name, description, parameters: schema },
    });
    expect(tools.batchConvert([shout, shout], 'ollama')).toHaveLength(2);
    expect(() => tools.convertToProvider(shout, 'unknown')).toThrow(/provider/);
  });

  // covers S1-04
  it('has errors with a text and a cause', () => {
    const cause = new Error('disk');
    const error = new ToolError('read', 'failed', cause);
    expect([String(error), error.unwrap(), error.toolName]).toEqual(["tool 'read': failed: disk", cause, 'read']);
    expect(String(new ToolError('read', 'failed'))).toBe("tool 'read': failed");
  });
});

describe('workbench', () => {
  it('begins with its tools, replaces by name and keeps the order', async () => {
    const backend = echo();
    const tools = createWorkbenchRegistry(backend);
    const names = tools.list().map(({ name }) => name);
    expect(names).toContain('run_code');
    expect(tools.get('nope')).toBeUndefined();
    expect(await tools.get('read_file')?.execute({ path: 'a' })).toEqual({ tool: 'read_file', args: { path: 'a' } });
    const own = { ...tools.get('read_file'), description: 'Mine.' } as NonNullable<ReturnType<typeof tools.get>>;
    tools.register(own);
    tools.register({ ...own, name: 'mine' });
    expect(tools.list().map(({ name }) => name)).toEqual([...names, 'mine']);
    expect(tools.get('read_file')?.description).toBe('Mine.');
    expect(tools.toOpenAIFunctions().find(({ name }) => name === 'mine')).toEqual({
      ...{ name: 'mine', description: 'Mine.', parameters: own.inputSchema },
    });
  });
});

describe('workbench asks', () => {
  const asking = (tool: string, settings?: object) => {
    const asks = createWorkbenchRegistry(echo(), { settings }).get(tool)?.requiresApproval;
    return typeof asks === 'function' ? asks : () => asks;
  };

  it('always, never, or by the arguments', () => {
    expect(createWorkbenchRegistry(echo()).get('delete_file')?.requiresApproval).toBe(true);
    expect(createWorkbenchRegistry(echo()).get('read_file')?.requiresApproval).toBe(false);
    const moves = asking('move_file');
    expect(moves({ from: 'a', to: 'b' })).toBe(false);
    expect(moves({ from: 'a', to: 'b', overwrite: true })).toBe(true);
    // What the workspace holds is not known here.
    expect(asking('write_file')({ path: 'a', content: '' })).toBe(true);
    expect(asking('write_file')({ path: 'a' })).toBe(false);
  });

  it('about addresses that the settings of the run do not list', () => {
    const [none, listed] = [asking('web_fetch'), asking('web_fetch', { url_allowlist: ['example.org'] })];
    expect([none({ url: 'https://example.org/a' }), listed({ url: 'https://example.org/a' })]).toEqual([true, false]);
    expect(listed({ url: 'https://example.com/' })).toBe(true);
    expect(listed({ url: 'ftp://example.com/' })).toBe(false);
  });
});

describe('sage', () => {
  it('takes a toolset with a graph of its own', async () => {
    const graph: GraphPort = { query: async (_, { query }) => ({ results: [query] }) };
    const tools = createSageRegistry(echo(), { toolset: createSageToolset({ graph }) });
    expect(tools.getToolSchemas().map(({ name }) => name)).toEqual(['Read', 'Write', 'Edit', 'Bash', 'GraphQuery']);
  });

  const shout = defineTool({
    name: 'Shout',
    description: 'Returns the text in capitals.',
    parameters: z.strictObject({ s: z.string() }),
    implementation: ({ s }) => s.toUpperCase(),
  });
  const meta = { startedAt: expect.any(String), endedAt: expect.any(String), durationMs: expect.any(Number) };

  it('registers, gets, removes and clears', () => {
    const tools = createSageRegistry(echo(), { toolset });
    tools.register(shout);
    expect([tools.has('Read'), tools.remove('Read'), tools.has('Read')]).toEqual([true, true, false]);
    expect(() => tools.get('Read')).toThrow(/no tool named "Read"/);
    expect(tools.getToolSchemas().map(({ name }) => name)).toEqual(['Write', 'Shout']);
    tools.clear();
    expect(tools.getToolSchemas()).toEqual([]);
  });

  it('makes data of what an implementation returns, and errors of what it throws', async () => {
    expect(await shout.execute({ s: 'abc' })).toEqual({ ok: true, data: 'ABC', meta });
    expect(await shout.execute({ s: 1 })).toMatchObject({ ok: false, error: { code: 'EVALIDATION' }, meta });
    const broken = defineTool({
      ...shout,
      parameters: z.object({}),
      implementation: () => Promise.reject(new Error('no')),
    });
    expect(await broken.execute({})).toEqual({ ok: false, error: { code: 'ERUNTIME', message: 'no' }, meta });
    expect(shout.schema).toMatchObject({ type: 'object', required: ['s'] });
  });

  it('validates: the answer has the input with its defaults', () => {
    const counted = defineTool({
      ...shout,
      parameters: z.object({ n: z.number().default(1) }),
      implementation: () => 1,
    });
    expect(counted.validate({})).toEqual({ ok: true, input: { n: 1 } });
    expect(createSageRegistry(echo(), { toolset }).get('Read').validate({ path: 'a' })).toEqual({
      ok: true,
      input: { path: 'a' },
    });
  });

  it.each([
    { dryRun: true },
    { permissions: ['fs:read'] },
    { permissions: [] },
    { env: { A: 'b' } },
    { cwd: 'src' },
    { secretProvider: { get: () => 'x' } },
  ])('a call of a built-in tool throws for a context that it cannot keep: %j', async (context) => {
    const backend = echo();
    const tools = createSageRegistry(backend, { toolset });
    await expect(tools.get('Write').execute({ path: 'a' }, context)).rejects.toThrow(Object.keys(context)[0]);
    expect(backend.calls).toEqual([]);
  });

  it('a dry run of a tool that only reads is a call', async () => {
    const tools = createSageRegistry(echo(), { toolset });
    expect(await tools.get('Read').execute({ path: 'a' }, { dryRun: true })).toMatchObject({ tool: 'Read' });
    expect(await tools.get('Write').execute({ path: 'a' }, { dryRun: false })).toMatchObject({ tool: 'Write' });
  });

  it('an own tool gets its context, and secrets in place of their names, which no result shows', async () => {
    const value = 'pa"ss word/1';
    const seen: unknown[] = [];
    const send = defineTool({
      name: 'Send',
      parameters: z.object({ to: z.string(), headers: z.record(z.string(), z.string()) }),
      implementation(input, context) {
        seen.push(input, context.dryRun, context.permissions);
        const encoded = [
          value,
          encodeURIComponent(value),
          Buffer.from(value).toString('base64'),
          JSON.stringify(value),
        ];
        if (input.to === 'nowhere') throw new Error(`refused ${value}`);
        return { sent: encoded, to: input.to };
      },
    });
    const secretProvider = { get: (name: string) => (name === 'TOKEN' ? value : undefined) };
    const context = { secretProvider, dryRun: true, permissions: ['net'] };
    const input = { to: 'a', headers: { authorization: 'Bearer $ENV.TOKEN' } };
    const result = await send.execute(input, context);
    expect(seen).toEqual([{ to: 'a', headers: { authorization: `Bearer ${value}` } }, true, ['net']]);
    const shown = '[secret TOKEN]';
    expect(result).toMatchObject({ ok: true, data: { sent: [shown, shown, shown, `"${shown}"`], to: 'a' } });
    expect(await send.execute({ ...input, to: 'nowhere' }, context)).toMatchObject({
      error: { code: 'ERUNTIME', message: `refused ${shown}` },
    });
    seen.length = 0;
    expect(await send.execute({ ...input, to: '$ENV.OTHER' }, context)).toMatchObject({
      error: { code: 'EVALIDATION', message: expect.stringContaining('OTHER') },
    });
    expect(seen).toEqual([]);
    await send.execute(input);
    expect(seen[0]).toMatchObject({ headers: { authorization: 'Bearer $ENV.TOKEN' } });
  });

  it('refuses what may change something when it is read-only', async () => {
    const backend = echo();
    const tools = createSageRegistry(backend, { toolset, readOnly: true });
    tools.register(shout);
    tools.register({ ...shout, name: 'Look', readOnly: true });
    for (const name of ['Write', 'Shout']) {
      expect(await tools.get(name).execute({ path: 'a', s: 'a' })).toMatchObject({
        ok: false,
        error: { code: 'EPERMISSION' },
      });
    }
    expect(backend.calls).toEqual([]);
    expect(await tools.get('Read').execute({ path: 'a' })).toEqual({ tool: 'Read', args: { path: 'a' } });
    expect(await tools.get('Look').execute({ s: 'a' })).toMatchObject({ ok: true, data: 'A' });
  });
});

it('cli-agent: each tool validates, says its risk and executes', async () => {
  const [reading, writing] = createCliAgentTools(echo(), { toolset });
  expect([reading?.riskLevel, reading?.requiresApproval]).toEqual(['read_only', false]);
  expect([writing?.riskLevel, writing?.requiresApproval]).toEqual(['safe_write', true]);
  expect(reading?.parameters).toMatchObject({ type: 'object', required: ['path'] });
  expect(reading?.validate({ path: 'src/../a' }, '/work')).toBeUndefined();
  expect(reading?.validate({ file: 'a' }, '/work')).toMatchObject({ code: 'invalid_parameters' });
  expect(reading?.validate({ path: '../work2/a' }, '/work')).toMatchObject({
    code: 'path_outside_working_dir',
    message: "Path '../work2/a' is outside working directory",
  });
  expect(await reading?.execute({ path: 'a' })).toEqual({ tool: 'Read', args: { path: 'a' } });
});
