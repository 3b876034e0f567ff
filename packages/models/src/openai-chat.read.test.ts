import { describe, expect, test } from 'vitest';
import { apiKey, asking, askServer, chatCompletion, continued, failure, readFile } from './testing/ask.ts';
import { testFaults, testParallelCalls } from './testing/faults.ts';
import { openWireServer } from './testing/wire-server.ts';

const modelName = 'openai-chat/gpt-4.1';

const { name, description, parameters } = readFile;
testParallelCalls({
  model: modelName,
  url: '/v1/chat/completions',
  headers: (headers) => expect(headers.get('authorization')).toBe(`Bearer ${apiKey}`),
  body: () => ({
    max_tokens: 32_768,
    tools: [{ type: 'function', function: { name, description, parameters } }],
    messages: [
      { role: 'system', content: 'Work carefully.' },
      { role: 'user', content: 'compare the two files' },
      {
        role: 'assistant',
        content: 'Reading both.',
        tool_calls: [
          { id: 'call_a', function: { name: 'read_file', arguments: '{"path":"a.txt"}' } },
          { id: 'call_b', function: { name: 'read_file', arguments: '{"path":"b.txt"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_a', content: 'alpha' },
      { role: 'tool', tool_call_id: 'call_b', content: 'Error: Denied by a reviewer: not this file.' },
    ],
  }),
});

describe('faults', () => testFaults(modelName, chatCompletion([call('c1', '{"path":"a.txt"}')])));

test('unusable arguments and unknown tools are data and get a result', async () => {
  const calls = [
    call('c1', '{"path": a.txt'),
    call('c2', '["a.txt"]'),
    call('c3', ''),
    call('c4', '{"__proto__":{"path":"a"}}'),
    call('c5', '{"x":1}', 'fly_away'),
    call('c6', '{nope', 'fly_away'),
  ];
  // aimock refuses to write malformed arguments.
  await using ask = await askServer(modelName, chatCompletion(calls));
  const answer = await ask();
  expect(answer.calls).toMatchObject([
    { id: 'c1', tool: 'read_file', args: '{"path": a.txt', invalid: expect.stringContaining('not JSON') },
    { id: 'c2', args: ['a.txt'], invalid: 'The arguments must be a JSON object, not an array.' },
    { id: 'c3', args: {} },
    { id: 'c4', args: '{"__proto__":{"path":"a"}}', invalid: expect.stringContaining('not allowed') },
    { id: 'c5', tool: 'fly_away', args: { x: 1 } },
    { id: 'c6', tool: 'fly_away', args: '{nope', invalid: expect.stringContaining('not JSON') },
  ]);
  expect(answer.calls.map((one) => one.invalid === undefined)).toEqual([false, false, true, false, true, false]);

  await ask(continued(answer));
  const sent = ask.list(1, 'messages');
  expect(sent[2]?.tool_calls).toMatchObject(
    ['{}', '{}', '{}', '{}', '{"x":1}', '{}'].map((args, index) => ({
      id: `c${index + 1}`,
      function: { arguments: args },
    })),
  );
  expect(sent.slice(3).map((message) => message.tool_call_id)).toEqual(['c1', 'c2', 'c3', 'c4', 'c5', 'c6']);
});

test('missing and repeated ids are replaced by unique ids, which go back', async () => {
  // Some servers number their calls from zero in every answer, or leave the id out.
  const calls = [call('call_0', '{"path":"a"}'), call('call_0', '{"path":"b"}'), call(null, '{"path":"c"}')];
  await using ask = await askServer(modelName, chatCompletion(calls, 'stop'));
  const first = await ask();
  const second = await ask(continued(first));
  const ids = [...first.calls, ...second.calls].map(({ id }) => id);
  expect(new Set(ids).size).toBe(6);
  expect(ids[0]).toBe('call_0');
  expect(ids.every((id) => id !== '')).toBe(true);
  expect(first.finish).toBe('tool_calls');

  await ask([...continued(first), ...continued(second).slice(1)]);
  const sent = ask.list(2, 'messages');
  expect(sent.flatMap((message) => message.tool_calls ?? [])).toMatchObject(ids.map((id) => ({ id })));
  expect(sent.flatMap((message) => message.tool_call_id ?? [])).toEqual(ids);
});

test('an answer at the output limit keeps its complete calls and marks the cut one', async () => {
  const calls = [call('c1', '{"path":"a.txt"}'), call('c2', '{"path":"b.t')];
  await using ask = await askServer(modelName, chatCompletion(calls, 'length'));
  const answer = await ask(undefined, { maxOutputTokens: 64 });
  expect(ask.sent[0]?.body).toMatchObject({ max_tokens: 64 });
  expect(answer.finish).toBe('length');
  expect(answer.calls[0]).toEqual({ id: 'c1', tool: 'read_file', args: { path: 'a.txt' } });
  expect(answer.calls[1]).toMatchObject({ id: 'c2', invalid: expect.stringContaining('cut off at the output limit') });
});

test('an answer without any choice is no answer', async () => {
  await using server = await openWireServer({ body: JSON.stringify({ ...chatCompletion([]), choices: [] }) });
  expect(await failure(asking(modelName, server.url)())).toMatchObject({ code: 'EMODELANSWER', retryable: false });
});

test('a conversation with a call without a result is refused before any request', async () => {
  await using ask = await askServer(modelName, chatCompletion([call('c1', '{}')]));
  const conversation = continued(await ask()).slice(0, 2);
  const refused = await failure(ask([...conversation, { role: 'user', text: 'continue' }]));
  expect(refused).toMatchObject({ code: 'EMODELREQUEST', retryable: false, status: undefined });
  expect(ask.sent).toHaveLength(1);
});

function call(id: string | null, args: string, name = 'read_file') {
  return { id, type: 'function', function: { name, arguments: args } };
}
