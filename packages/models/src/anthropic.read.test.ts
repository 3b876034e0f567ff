import { describe, expect, test } from 'vitest';
import { apiKey, asking, askServer, continued, readFile } from './testing/ask.ts';
import { testFaults, testParallelCalls } from './testing/faults.ts';
import { openWireServer } from './testing/wire-server.ts';

/** The end of the conversation is marked for the cache. */
const cached = { cache_control: { type: 'ephemeral' } };
const modelName = 'anthropic/claude-sonnet-4-5';

const { name, description, parameters } = readFile;
testParallelCalls({
  model: modelName,
  url: '/v1/messages',
  headers: (headers) => expect(headers.get('x-api-key')).toBe(apiKey),
  body: () => ({
    max_tokens: 25_000,
    system: [{ type: 'text', text: 'Work carefully.' }],
    tools: [{ name, description, input_schema: parameters }],
    messages: [
      { role: 'user' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Reading both.' },
          { type: 'tool_use', id: 'call_a', name: 'read_file', input: { path: 'a.txt' } },
          { type: 'tool_use', id: 'call_b', name: 'read_file', input: { path: 'b.txt' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_a', content: 'alpha' },
          {
            ...{ type: 'tool_result', tool_use_id: 'call_b', is_error: true },
            content: 'Error: Denied by a reviewer: not this file.',
          },
        ],
      },
    ],
  }),
});

describe('faults', () => testFaults(modelName, message([use('toolu_1', { path: 'a.txt' })])));

// aimock writes neither a given signature nor malformed arguments.
test('signed and redacted thinking goes back unchanged before its call', async () => {
  const content = [
    { type: 'thinking', thinking: 'Which file?', signature: 'EqQBsigned==' },
    { type: 'redacted_thinking', data: 'EmwKsealed==' },
    use('toolu_1', { path: 'a.txt' }),
  ];
  await using ask = await askServer(modelName, message(content));
  const answer = await ask();
  expect(answer.text).toBe('');
  await ask(continued(answer));
  expect(ask.list(1, 'messages')[1]).toEqual({ role: 'assistant', content });
});

test('arguments that are no object are data, and go back as an empty object', async () => {
  await using ask = await askServer(
    modelName,
    message([use('toolu_1', '{"path": a.txt'), use('toolu_2', { x: 1 }, 'fly_away')]),
  );
  const answer = await ask();
  expect(answer.calls).toEqual([
    {
      ...{ id: 'toolu_1', tool: 'read_file', args: '{"path": a.txt' },
      invalid: 'The arguments must be a JSON object, not a string.',
    },
    { id: 'toolu_2', tool: 'fly_away', args: { x: 1 } },
  ]);
  await ask(continued(answer));
  expect(ask.list(1, 'messages').slice(1)).toMatchObject([
    { content: [use('toolu_1', {}), use('toolu_2', { x: 1 }, 'fly_away')] },
    { content: [{ tool_use_id: 'toolu_1' }, { tool_use_id: 'toolu_2' }] },
  ]);
});

test('the last call at the output limit is invalid: a cut object looks complete', async () => {
  const content = [use('toolu_1', { path: 'a.txt' }), use('toolu_2', { path: 'b.t' })];
  await using server = await openWireServer({ body: JSON.stringify(message(content, 'max_tokens')) });
  const answer = await asking(modelName, server.url)();
  expect(answer).toMatchObject({ finish: 'length', usage: { input_tokens: 11, output_tokens: 7 } });
  expect(answer.calls).toEqual([
    { id: 'toolu_1', tool: 'read_file', args: { path: 'a.txt' } },
    {
      ...{ id: 'toolu_2', tool: 'read_file', args: { path: 'b.t' } },
      invalid: 'The call was cut off at the output limit.',
    },
  ]);
});

test('another model gets a rebuilt answer without the reasoning', async () => {
  const thinking = { type: 'thinking', thinking: 'Which file?', signature: 'EqQBsigned==' };
  const body = JSON.stringify(message([thinking, use('toolu:1/x', { path: 'a.txt' })]));
  await using server = await openWireServer({ body });
  const first = await asking('anthropic/claude-opus-4-1', server.url)();
  const ask = asking(modelName, server.url);
  await ask(continued(first));
  expect(ask.list(0, 'messages').slice(1)).toEqual([
    { role: 'assistant', content: [use('rebuilt_0', { path: 'a.txt' })] },
    { role: 'user', content: [{ ...cached, type: 'tool_result', tool_use_id: 'rebuilt_0', content: 'alpha' }] },
  ]);
});

function use(id: string, input: unknown, name = 'read_file') {
  return { type: 'tool_use', id, name, input };
}

function message(content: unknown[], stop_reason = 'tool_use') {
  return {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', content, stop_reason },
    usage: { input_tokens: 11, output_tokens: 7 },
  };
}
