import { expect, test } from 'vitest';
import { addUsage, UsageReader } from './usage.ts';

const sse = (...parts: object[]) => parts.map((part) => `data: ${JSON.stringify(part)}\n\n`).join('');

test.each([
  [
    'Anthropic',
    sse(
      {
        type: 'message_start',
        message: {
          usage: { input_tokens: 10, cache_read_input_tokens: 70, cache_creation_input_tokens: 20, output_tokens: 1 },
        },
      },
      { type: 'content_block_delta', delta: { text: '"usage": {"output_tokens": 9999}' } },
      { type: 'message_delta', usage: { output_tokens: 5 } },
    ),
    { input_tokens: 100, output_tokens: 5, cached_input_tokens: 70, cache_write_tokens: 20 },
  ],
  [
    'OpenAI responses',
    sse({
      type: 'response.completed',
      response: {
        usage: {
          input_tokens: 100,
          input_tokens_details: { cached_tokens: 70 },
          output_tokens: 5,
          output_tokens_details: { reasoning_tokens: 2 },
        },
      },
    }),
    { input_tokens: 100, output_tokens: 5, cached_input_tokens: 70, reasoning_tokens: 2 },
  ],
  [
    'OpenAI chat completions',
    `${sse({ choices: [], usage: null }, { choices: [], usage: { prompt_tokens: 100, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 70 } } })}data: [DONE]\n\n`,
    { input_tokens: 100, output_tokens: 5, cached_input_tokens: 70 },
  ],
  [
    'Google',
    sse(
      { usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 1 } },
      {
        usageMetadata: {
          promptTokenCount: 100,
          cachedContentTokenCount: 70,
          candidatesTokenCount: 3,
          thoughtsTokenCount: 2,
        },
      },
    ),
    { input_tokens: 100, output_tokens: 5, cached_input_tokens: 70, reasoning_tokens: 2 },
  ],
])('%s, however its stream is cut', (_, stream, wanted) => {
  const bytes = Buffer.from(stream);
  for (const size of [1, 7, bytes.length]) {
    const reader = new UsageReader({ isStream: true });
    for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
    expect(reader.end()).toEqual(wanted);
  }
});

test('a whole answer, and counts that are none', () => {
  const read = (answer: unknown) => {
    const reader = new UsageReader({ isStream: false });
    reader.push(Buffer.from(JSON.stringify(answer)));
    return reader.end();
  };
  expect(read({ usage: { input_tokens: 3, output_tokens: 4 } })).toEqual({ input_tokens: 3, output_tokens: 4 });
  expect(read({ usage: { input_tokens: -3, output_tokens: null } })).toEqual({ input_tokens: 0, output_tokens: 0 });
  expect(read({ usage: 'many' })).toEqual({ input_tokens: 0, output_tokens: 0 });
  expect(read('no usage')).toEqual({ input_tokens: 0, output_tokens: 0 });
  expect(
    addUsage(
      read({ usage: { input_tokens: 3 } }),
      read({ usage: { prompt_tokens: 2, prompt_tokens_details: { cached_tokens: 1 } } }),
    ),
  ).toEqual({
    ...{ input_tokens: 5, output_tokens: 0, cached_input_tokens: 1 },
  });
});
