import { LLMock } from '@copilotkit/aimock';
import { expect, test } from 'vitest';
import type { ModelAnswer, ModelDelta } from './port.ts';
import { asking, chatCompletion, eventStream } from './testing/ask.ts';
import { eventsOf } from './testing/events.ts';
import { openWireServer } from './testing/wire-server.ts';

const models = [
  ...['openai/gpt-5', 'openai-chat/gpt-4.1', 'anthropic/claude-sonnet-4-5', 'google/gemini-2.5-pro'],
  ...['openai-compatible/m', 'ollama/m'],
];
const toolCalls = ['a.txt', 'b.txt'].map((path, index) => ({
  ...{ name: 'read_file', id: `call_${'ab'[index]}` },
  arguments: JSON.stringify({ path }),
}));
const usage = { ...{ input_tokens: 11, output_tokens: 7, prompt_tokens: 11 }, completion_tokens: 7 };
const googleUsage = { promptTokenCount: 11, candidatesTokenCount: 7 };

test.for(models)('%s: a stream of aimock is read as its whole answer', async (model) => {
  const mock = await LLMock.create({ port: 0, host: '127.0.0.1' });
  try {
    const thoughts = { reasoning: 'Which file is it? I read both.', reasoningSignature: 'EqQBsigned==' };
    const content = { content: 'Reading both.', toolCalls, ...thoughts, usage: { ...usage, ...googleUsage } };
    mock.on({ userMessage: 'compare' }, content, { chunkSize: 5 });
    const ask = asking(model, model.startsWith('openai-compatible') ? `${mock.url}/v1` : mock.url);
    const whole = await ask();
    const { answer, deltas } = await ask.stream();
    expect(comparable(answer)).toEqual(comparable(whole));
    expect(answer.calls).toHaveLength(2);
    expect(answer.usage).toMatchObject({ input_tokens: 11, output_tokens: 7 });
    expect(deltas.length).toBeGreaterThan(8);
    expect(joined(deltas)).toEqual({
      text: 'Reading both.',
      // Chat Completions have no reasoning; servers that imitate them do.
      reasoning: model.startsWith('openai-chat') ? '' : thoughts.reasoning,
      calls: toolCalls.map(({ name, arguments: args }) => ({ tool: name, args: JSON.parse(args) })),
    });
  } finally {
    await mock.stop();
  }
});

test('a server that sends no stream is read as without one, and asked once', async () => {
  await using server = await openWireServer({ body: JSON.stringify(chatCompletion([])) });
  const { answer, deltas } = await asking('ollama/m', server.url).stream();
  expect(answer).toMatchObject({ text: 'Looking.' });
  expect(deltas).toEqual([]);
  expect(server.requests).toMatchObject([{ stream: true, stream_options: { include_usage: true } }]);
});

test('a stream is known by its first byte, not by its type', async () => {
  const body = `: keep-alive\n\n${eventsOf('ollama/m', chatCompletion([])).join('')}`;
  await using server = await openWireServer({ body }, { body, headers: { ...eventStream, 'x-any': '1' } });
  const ask = asking('ollama/m', server.url);
  expect((await ask.stream()).answer.text).toBe('Looking.');
  expect((await ask.stream()).answer.text).toBe('Looking.');
});

test('parallel calls whose parts come mixed keep the order in which they began', async () => {
  const chunk = (...tool_calls: unknown[]) =>
    `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta: { tool_calls } }] })}\n\n`;
  const part = (index: number, args: string, first = {}) => ({
    index,
    ...first,
    function: { arguments: args, ...first },
  });
  const begin = (index: number, name: string) => ({ index, id: 'call_0', function: { name, arguments: '' } });
  const body = [
    chunk(begin(0, 'write_file')),
    chunk(begin(1, 'read_file'), part(0, '{"path":')),
    chunk(part(1, '{"path":"b"}')),
    chunk(part(0, '"a"}')),
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] })}\n\ndata: [DONE]\n\n`,
  ].join('');
  await using server = await openWireServer({ headers: eventStream, body });
  const { answer, deltas } = await asking('openai-compatible/m', server.url).stream();
  expect(answer.calls.map(({ tool, args }) => ({ tool, args }))).toEqual([
    { tool: 'write_file', args: { path: 'a' } },
    { tool: 'read_file', args: { path: 'b' } },
  ]);
  expect(new Set(answer.calls.map(({ id }) => id)).size).toBe(2);
  expect(joined(deltas).calls).toEqual(answer.calls.map(({ tool, args }) => ({ tool, args })));
});

/** aimock makes up the ids of items. */
function comparable(answer: ModelAnswer): unknown {
  const text = JSON.stringify(answer).replaceAll(/"(rs|msg|fc|chatcmpl|resp|toolu)[-_][\w-]+"/g, '"$1"');
  return JSON.parse(text.replaceAll(/"reasoningEncryptedContent":"[^"]+"/g, '"reasoningEncryptedContent":"sealed"'));
}

function joined(deltas: readonly ModelDelta[]) {
  const calls: { tool: string; args: string }[] = [];
  const texts = { text: '', reasoning: '' };
  for (const delta of deltas) {
    if (delta.type !== 'call') texts[delta.type] += delta.text;
    else if (delta.tool !== undefined) calls[delta.index] = { tool: delta.tool, args: delta.args };
    else if (calls[delta.index] !== undefined) (calls[delta.index] as { args: string }).args += delta.args;
  }
  return { ...texts, calls: calls.map(({ tool, args }) => ({ tool, args: JSON.parse(args) })) };
}
