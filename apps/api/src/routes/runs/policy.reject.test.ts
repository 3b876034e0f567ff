import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { problemOf, startTestApi, type TestApi } from '../../testing/test-api.ts';
import { testWorker } from '../../testing/test-worker.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ models: { openai: { apiKey: 'k' } } });
});
afterAll(() => api.stop());

const write = { tool: 'write_file', args: { path: 'a.txt', content: 'a' } };
const plan = { groups: [{ steps: [write] }] };
const policy = (...matches: object[]) => ({ rules: matches.map((match) => ({ match, action: 'hold' })) });

describe('a rule that can never match is refused, for it would hold nothing', () => {
  test.for([
    ['another case', 'Edit', 'Nearest: edit'],
    ['another case', 'Bash', 'Nearest: bash'],
    ['another spelling', 'writeFile', 'Nearest: write_file'],
    ['a word of its own', 'nope_tool', 'Nearest: '],
    ['a blank behind it', 'edit ', 'Nearest: edit'],
    ['a pattern that no tool matches', 'webb_*', 'no tool that matches "webb_*". Nearest: '],
    ['a name of every object', 'constructor', 'no tool named "constructor"'],
  ])('%s: %s', async ([, tool = '', words]) => {
    for (const task of [{ plan }, { prompt: 'Go.', model: 'openai/gpt-5' }]) {
      const response = await api.post('/v1/runs', { ...task, policy: policy({ tool: 'bash' }, { tool }) });
      expect(await problemOf(response)).toMatchObject({
        ...{ status: 422, code: 'invalid_policy' },
        errors: [{ pointer: '/policy/rules/1/match/tool', detail: expect.stringContaining(words ?? '') }],
      });
    }
  });

  test.for([
    [{ tool: 'edit', effect: 'external' }, 'effect', 'say workspace'],
    [{ tool: 'bash', effect: 'read' }, 'effect', 'say workspace or external'],
    [{ tool: 'read_file', risk: 'high' }, 'risk', 'say low'],
  ] as const)('%j', async ([match, field, words]) => {
    const response = await api.post('/v1/runs', { plan, policy: policy(match) });
    expect(await problemOf(response)).toMatchObject({
      ...{ status: 422, code: 'invalid_policy' },
      errors: [{ pointer: `/policy/rules/0/match/${field}`, detail: expect.stringContaining(words) }],
    });
  });

  test('every such rule is named', async () => {
    const response = await api.post('/v1/runs', { plan, policy: policy({ tool: 'A' }, {}, { tool: 'B' }) });
    const { errors } = (await problemOf(response)) as { errors: { pointer: string }[] };
    expect(errors.map(({ pointer }) => pointer)).toEqual(['/policy/rules/0/match/tool', '/policy/rules/2/match/tool']);
  });

  test('in the body of a fork, too', async () => {
    const worker = testWorker(api.engine, api.dataDir);
    const { run } = await api.client.createRun({ plan });
    await worker.plan(run.id);
    await worker.execute(run.id);
    const response = await api.post(`/v1/runs/${run.id}/fork`, { from_step: 0, policy: policy({ tool: 'Edit' }) });
    expect(await problemOf(response)).toMatchObject({
      ...{ status: 422, code: 'invalid_policy' },
      errors: [{ pointer: '/policy/rules/0/match/tool' }],
    });
    expect((await api.post(`/v1/runs/${run.id}/fork`, { from_step: 0, policy: policy({ tool: 'edit' }) })).status).toBe(
      201,
    );
  });
});

test.for<[string, object]>([
  ['an effect', { effect: 'writes' }],
  ['a risk', { risk: 'extreme' }],
  ['a field', { tools: 'edit' }],
])('%s that there is none of is no rule', async ([, match]) => {
  expect(await problemOf(await api.post('/v1/runs', { plan, policy: policy(match) }))).toMatchObject({
    ...{ status: 422, code: 'invalid_request' },
  });
});

test('rules that apply to calls of more than one tool are taken', async () => {
  const rules = policy({ risk: 'high', effect: 'read' }, { effect: 'external' }, { tool: 'web_*' }, {});
  expect((await api.post('/v1/runs', { plan, policy: rules })).status).toBe(201);
});

test('a rule behind a wider rule is refused', async () => {
  for (const rules of [policy({}, { effect: 'external' }), policy({ tool: 'e*' }, { tool: 'edit' })]) {
    expect(await problemOf(await api.post('/v1/runs', { plan, policy: rules }))).toMatchObject({
      ...{ status: 422, code: 'invalid_policy' },
      errors: [{ pointer: '/policy/rules/1/match', detail: expect.stringContaining('rule 1 before it') }],
    });
  }
});
