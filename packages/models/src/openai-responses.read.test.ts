import { describe, expect, test } from 'vitest';
import type { ModelTool } from './port.ts';
import { asking, askServer, continued, failure, readFile } from './testing/ask.ts';
import { testFaults, testParallelCalls } from './testing/faults.ts';
import { openWireServer } from './testing/wire-server.ts';

const modelName = 'openai/gpt-5';

const { name, description, parameters } = readFile;
testParallelCalls({
  model: modelName,
  url: '/v1/responses',
  body: () => ({
    max_output_tokens: 50_000,
    // The provider stores nothing; `strict` would rewrite the schema.
    store: false,
    include: ['reasoning.encrypted_content'],
    tools: [{ type: 'function', name, description, parameters, strict: false }],
    input: [
      { role: 'developer', content: 'Work carefully.' },
      { role: 'user' },
      // aimock encrypts some reasoning for this model.
      { type: 'reasoning', id: expect.any(String), encrypted_content: expect.any(String), summary: [] },
      { role: 'assistant', content: 'Reading both.' },
      { type: 'function_call', call_id: 'call_a', name: 'read_file', arguments: '{"path":"a.txt"}' },
      { type: 'function_call', call_id: 'call_b', name: 'read_file', arguments: '{"path":"b.txt"}' },
      { type: 'function_call_output', call_id: 'call_a', output: 'alpha' },
      { type: 'function_call_output', call_id: 'call_b', output: 'Error: Denied by a reviewer: not this file.' },
    ],
  }),
});

describe('faults', () => testFaults(modelName, response([call('c1', '{"path":"a.txt"}')])));

// aimock writes neither given encrypted reasoning nor malformed arguments.
test('encrypted reasoning goes back unchanged before its call', async () => {
  const reasoning = { type: 'reasoning', id: 'rs_1', encrypted_content: 'gAAAA+sealed==', summary: [] };
  await using ask = await askServer(modelName, response([reasoning, call('c1', '{"path":"a.txt"}')]));
  await ask(continued(await ask()));
  expect(ask.list(1, 'input').slice(2)).toEqual([
    reasoning,
    { type: 'function_call', call_id: 'c1', name: 'read_file', arguments: '{"path":"a.txt"}' },
    { type: 'function_call_output', call_id: 'c1', output: 'alpha' },
  ]);
});

test('malformed arguments are data, and their result keeps the id of the call', async () => {
  await using ask = await askServer(
    modelName,
    response([call('c1', '{"path": a.txt'), call('c2', '{"path":"b"}', 'fly_away')]),
  );
  const answer = await ask();
  expect(answer.calls).toMatchObject([
    { id: 'c1', args: '{"path": a.txt', invalid: expect.stringContaining('not JSON') },
    { id: 'c2', tool: 'fly_away', args: { path: 'b' } },
  ]);
  await ask(continued(answer));
  expect(ask.list(1, 'input').slice(2)).toMatchObject([
    { type: 'function_call', call_id: 'c1', arguments: '{}' },
    { type: 'function_call', call_id: 'c2', name: 'fly_away' },
    { type: 'function_call_output', call_id: 'c1' },
    { type: 'function_call_output', call_id: 'c2' },
  ]);
});

const patch: ModelTool = {
  name: 'apply_patch',
  description: 'Changes files.',
  parameters: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
  freeText: 'input',
};
const withPatch = { tools: [readFile, patch] };
const text = '*** Begin Patch\n*** Add File: "a"\n+\\n {[\n*** End Patch';
const patchCall = (id: string, input: string) => ({
  ...{ type: 'custom_tool_call', id: `ctc_${id}`, call_id: id, name: 'apply_patch', input, status: 'completed' },
});

describe('a tool of plain texts', () => {
  test('is offered as such, called without JSON, and goes back as it came', async () => {
    await using ask = await askServer(modelName, response([patchCall('c1', text), call('c2', '{"path":"b"}')]));
    const answer = await ask(undefined, withPatch);
    expect(ask.list(0, 'tools')).toEqual([
      expect.objectContaining({ type: 'function', name: 'read_file' }),
      { type: 'custom', name: 'apply_patch', description: 'Changes files.' },
    ]);
    expect(answer.calls).toEqual([
      { id: 'c1', tool: 'apply_patch', args: { input: text } },
      { id: 'c2', tool: 'read_file', args: { path: 'b' } },
    ]);
    await ask(continued(answer), withPatch);
    expect(ask.list(1, 'input').slice(2)).toEqual([
      { type: 'custom_tool_call', call_id: 'c1', name: 'apply_patch', input: text },
      { type: 'function_call', call_id: 'c2', name: 'read_file', arguments: '{"path":"b"}' },
      { type: 'custom_tool_call_output', call_id: 'c1', output: 'alpha' },
      { type: 'function_call_output', call_id: 'c2', output: expect.any(String) },
    ]);
  });

  test.each(['openai/gpt-4.1', 'openai-chat/gpt-5', 'anthropic/claude-sonnet-4-5'])(
    'is a function for %s',
    async (model) => {
      await using server = await openWireServer({ body: '{}' });
      const ask = asking(model, server.url);
      await ask(undefined, withPatch).catch(() => {});
      expect(JSON.stringify(ask.list(0, 'tools'))).not.toContain('"custom"');
    },
  );

  test('a text that the output limit cut does not run', async () => {
    const body = JSON.stringify({
      ...response([patchCall('c1', text.slice(0, 20))]),
      ...{ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
    });
    await using server = await openWireServer({ body });
    expect(await asking(modelName, server.url)(undefined, withPatch)).toMatchObject({
      finish: 'length',
      calls: [{ id: 'c1', invalid: 'The call was cut off at the output limit.' }],
    });
  });
});

test('an answer at the output limit marks the call that it cut', async () => {
  const body = JSON.stringify({
    ...response([call('c1', '{"path":"a.t')]),
    ...{ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
  });
  await using server = await openWireServer({ body });
  expect(await asking(modelName, server.url)()).toMatchObject({
    finish: 'length',
    calls: [{ id: 'c1', invalid: expect.stringContaining('cut off at the output limit') }],
  });
});

// Without a `type` the SDK reports an unreadable answer; with one it reports 400 for every code.
describe.each([{}, { type: 'error', param: null }])('an error inside a 200, with %j', (more) => {
  test.each([
    ['rate_limit_exceeded', 'EMODELRATELIMIT', true],
    ['server_error', 'EMODELUNAVAILABLE', true],
    ['invalid_prompt', 'EMODELREQUEST', false],
  ])('%s is %s', async (code, expected, retryable) => {
    const body = JSON.stringify({ ...response([]), status: 'failed', error: { code, message: 'it broke', ...more } });
    await using server = await openWireServer({ body });
    const error = await failure(asking(modelName, server.url)());
    expect(error).toMatchObject({ code: expected, retryable });
    expect(error.message).toContain('it broke');
  });
});

function call(call_id: string, args: string, name = 'read_file') {
  return { type: 'function_call', id: `fc_${call_id}`, call_id, name, arguments: args, status: 'completed' };
}

function response(output: unknown[]) {
  return {
    ...{ id: 'resp_1', object: 'response', created_at: 1, model: 'gpt-5', status: 'completed', output },
    usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 },
  };
}
