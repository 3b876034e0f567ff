import { expect, test } from 'vitest';
import { asking, askServer, chatCompletion, continued } from './testing/ask.ts';
import { openWireServer } from './testing/wire-server.ts';

/** An answer with these calls of `read_file` in order, in each wire format. */
const formats: Record<string, (ids: readonly (string | null)[]) => unknown> = {
  'openai-chat/gpt-4.1': completion,
  'openai-compatible/local': completion,
  'ollama/qwen3': completion,
  'openai/gpt-5': (ids) => ({
    ...{ id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'gpt-5' },
    output: ids.map((id, index) => ({
      ...{ type: 'function_call', id: `fc_${index}`, call_id: id ?? '', name: 'read_file', status: 'completed' },
      arguments: JSON.stringify(args(index)),
    })),
    usage: { input_tokens: 1, output_tokens: 1 },
  }),
  'anthropic/claude-sonnet-4-5': (ids) => ({
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', stop_reason: 'tool_use' },
    content: ids.map((id, index) => ({ type: 'tool_use', id: id ?? '', name: 'read_file', input: args(index) })),
    usage: { input_tokens: 1, output_tokens: 1 },
  }),
  'google/gemini-3-pro-preview': (ids) => ({
    candidates: [
      {
        content: {
          role: 'model',
          parts: ids.map((id, index) => ({
            functionCall: { ...(id === null ? {} : { id }), name: 'read_file', args: args(index) },
          })),
        },
        finishReason: 'STOP',
      },
    ],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  }),
};
const models = Object.keys(formats);

test.for(models)(
  '%s: calls under one id stay the calls that the model made, each under an id of its own',
  async (model) => {
    const { answer } = await exchange(model, ['call_0', 'call_0', null, 'call_0', '']);
    expect(answer.calls.map((call) => call.args)).toEqual([0, 1, 2, 3, 4].map(args));
    const ids = answer.calls.map(({ id }) => id);
    expect(new Set(ids).size).toBe(5);
    expect(ids[0]).toBe('call_0');
  },
);

test.for(models)('%s: the same answer to the same conversation gets the same ids', async (model) => {
  const given = ['call_0', 'call_0', null, '', 'call00001'];
  const [first, second] = [await exchange(model, given), await exchange(model, given)];
  expect(first.answer).toEqual(second.answer);
});

test.for(models)(
  '%s: ids stay unique over the conversation, and each result goes back to its own call',
  async (model) => {
    await using ask = await askServer(model, formats[model]?.(['call_0', 'call_0']));
    const first = await ask();
    const second = await ask(continued(first));
    const third = await ask([...continued(first), ...continued(second).slice(1)]);
    const ids = [first, second, third].flatMap(({ calls }) => calls.map(({ id }) => id));
    expect(new Set(ids).size).toBe(6);
    const sent = JSON.stringify(ask.sent[2]?.body);
    // Each id appears with the call and with its result.
    for (const id of ids.slice(0, 4)) expect(sent.split(JSON.stringify(id)).length - 1).toBe(2);
  },
);

test.for([
  ['of control characters', 'a\u0000b'],
  ['of half a character', 'a\ud800'],
  ['of blanks', '  '],
  ['of more than 16,384 characters', 'x'.repeat(16_385)],
])('an id %s is replaced', async ([, id]) => {
  const { answer } = await exchange('openai-chat/gpt-4.1', [id ?? '']);
  expect(answer.calls.map((call) => call.id)).toEqual(['call00001']);
});

test('ids of the provider are kept in any form: some models read them again', async () => {
  const own = ['functions.read_file:0', 'call_1__thought__AbC+/=', '__proto__', 'constructor', 'x'.repeat(16_384)];
  const { answer } = await exchange('openai-compatible/local', own);
  expect(answer.calls.map(({ id }) => id)).toEqual(own);
  expect(answer.calls.map((call) => call.args)).toEqual(own.map((_, index) => args(index)));
});

test('our id is replaced when the provider uses it later', async () => {
  const answers = [completion([null]), completion(['call00001', 'call00002', null])];
  await using ask = await askServer('openai-chat/gpt-4.1', ...answers);
  const first = await ask();
  const second = await ask(continued(first));
  expect(first.calls.map(({ id }) => id)).toEqual(['call00001']);
  expect(second.calls.map(({ id }) => id)).toEqual(['call00003', 'call00002', 'call00004']);
});

test('an answer of another model is rebuilt with unique ids', async () => {
  await using server = await openWireServer(
    { body: JSON.stringify(completion(['rebuilt_2', 'rebuilt_1'])) },
    { body: JSON.stringify(completion(['rebuilt_3', 'rebuilt_4'])) },
  );
  const mine = asking('openai-chat/gpt-4.1', server.url);
  const other = asking('openai-chat/gpt-4o', server.url);
  const first = await mine();
  const second = await other(continued(first));
  await mine([...continued(first), ...continued(second).slice(1)]);
  const sent = mine.list(1, 'messages');
  const calls = sent.flatMap(
    ({ tool_calls }) => (tool_calls as { id: string }[] | undefined)?.map(({ id }) => id) ?? [],
  );
  expect(new Set(calls).size).toBe(4);
  expect(sent.flatMap(({ tool_call_id }) => tool_call_id ?? [])).toEqual(calls);
});

async function exchange(model: string, ids: readonly (string | null)[]) {
  await using ask = await askServer(model, formats[model]?.(ids));
  return { answer: await ask() };
}

function args(index: number) {
  return { path: `${index}.txt` };
}

function completion(ids: readonly (string | null)[]) {
  return chatCompletion(
    ids.map((id, index) => ({
      ...{ id, type: 'function' },
      function: { name: 'read_file', arguments: JSON.stringify(args(index)) },
    })),
  );
}
