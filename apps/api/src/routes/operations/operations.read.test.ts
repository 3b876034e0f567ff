import { workerIndex, workerKey } from '@holdpoint/engine';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { problemOf, startTestApi, type TestApi } from '../../testing/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

describe('workers', () => {
  test('that are alive are listed, last seen first; those that are gone or unreadable are not', async () => {
    const { redis } = api.engine;
    const heartbeat = {
      pid: 1,
      host: 'here',
      started_at: '2026-01-01T00:00:00.000Z',
      concurrency: 4,
      active: ['step_1'],
    };
    const at = Date.parse('2026-01-01T00:01:00.000Z');
    for (const [id, seen] of [
      ['worker-a', at],
      ['worker-b', at + 5000],
      ['worker-gone', at + 9000],
      ['worker-odd', at + 9000],
    ] as const) {
      await redis.zadd(workerIndex, seen, id);
    }
    const more = { version: '0.1.0', capabilities: { isolation: 'bubblewrap' }, said_by_a_newer_one: true };
    await redis.set(workerKey('worker-a'), JSON.stringify({ id: 'worker-a', ...heartbeat }));
    await redis.set(workerKey('worker-b'), JSON.stringify({ id: 'worker-b', ...heartbeat, ...more }));
    await redis.set(workerKey('worker-odd'), '{"id":');
    expect(await api.client.listWorkers()).toEqual([
      {
        id: 'worker-b',
        ...heartbeat,
        version: '0.1.0',
        capabilities: { isolation: 'bubblewrap' },
        last_seen_at: '2026-01-01T00:01:05.000Z',
      },
      { id: 'worker-a', ...heartbeat, version: null, capabilities: null, last_seen_at: '2026-01-01T00:01:00.000Z' },
    ]);
    expect(await api.client.ready()).toEqual({
      ...{ status: 'ready', workers: 2 },
      sweep: { last_at: null, overdue: false },
    });
  });
});

test("the operator's bounds are those that the API was started with", async () => {
  expect(await api.client.getBounds()).toEqual({
    ...{ policy: null, policy_version: null, policy_problem: null },
    ...{ source_roots: [], publish_roots: [], tool_modules: [], ceilings: {} },
    git_hosts: ['*'],
    model: { name: null, problem: null },
    sign_in: null,
  });
});

describe('queues', () => {
  test('count what waits, and keep what is parked apart', async () => {
    await api.client.createRun({ plan: { groups: [{ steps: [{ tool: 'bash', args: { command: 'true' } }] }] } });
    await api.engine.queues.addStep({ id: 'run_1' }, 'step_1', Date.now() + 3_600_000);
    await api.engine.queues.addStep({ id: 'run_1' }, 'step_2');
    expect(await api.client.listQueues()).toEqual([
      { name: 'turns', backlog: 1, active: 0, parked: 0 },
      { name: 'steps', backlog: 1, active: 0, parked: 1 },
      { name: 'workspaces', backlog: 0, active: 0, parked: 0 },
      { name: 'tasks', backlog: 0, active: 0, parked: 0 },
    ]);
  });
});

describe('tools', () => {
  test('are listed with the schema of what they take', async () => {
    const tools = await api.client.listTools();
    expect(tools.find(({ name }) => name === 'bash')).toMatchObject({
      toolset: 'holdpoint',
      effect: 'by run',
      risk: 'high',
      gate: null,
      label: 'high',
      version: null,
      asks: 'no',
      output_schema: null,
      input_schema: { type: 'object', required: ['command'], properties: { command: { type: 'string' } } },
    });
    expect(tools.find(({ name }) => name === 'ask_user')?.gate).toBe('input');
    const own = tools.filter(({ toolset }) => toolset === 'holdpoint');
    expect(await api.client.listTools({ toolset: 'holdpoint' })).toEqual(own);
    expect(await api.client.listToolsets()).toContainEqual(
      expect.objectContaining({ name: 'holdpoint', tools: own.length }),
    );
  });

  test.each([
    ['openai', { type: 'function', function: { name: 'read_file', parameters: { type: 'object' } } }],
    ['openai-functions', { name: 'read_file', parameters: { type: 'object', required: ['path'] } }],
    ['ollama', { type: 'function', function: { name: 'read_file', parameters: { type: 'object' } } }],
    ['anthropic', { name: 'read_file', input_schema: { type: 'object' } }],
    ['mcp', { name: 'read_file', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }],
  ] as const)('come in the shape of %s', async (format, shape) => {
    const toolset = await api.client.getToolset('holdpoint', { format });
    expect(toolset).toMatchObject({ name: 'holdpoint', format });
    expect(toolset.tools[0]).toMatchObject(shape);
  });

  test('of no toolset are refused', async () => {
    for (const path of ['/v1/toolsets/nope', '/v1/tools?toolset=nope']) {
      expect(await problemOf(await api.send(path))).toMatchObject({ code: 'toolset_not_found', status: 404 });
    }
  });

  test.each(['xml', 'toString', '__proto__', ''])(
    'in the form %j, which no provider has, are refused',
    async (format) => {
      expect(await problemOf(await api.send(`/v1/toolsets/holdpoint?format=${format}`))).toMatchObject({
        ...{ status: 422, code: 'invalid_request' },
        detail: expect.stringMatching(/form for a provider/),
        next: expect.stringContaining('openai, openai-functions, anthropic, ollama, mcp'),
        errors: [{ pointer: '/format' }],
      });
    },
  );
});
