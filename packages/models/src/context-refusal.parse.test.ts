import { expect, test } from 'vitest';
import { readContextRefusal } from './context-refusal.ts';
import { describeFailure } from './failure.ts';

/** What providers and servers answer to a request that is longer than the window. */
const refusals: [server: string, status: number, error: unknown, window: number | undefined][] = [
  [
    'OpenAI',
    400,
    {
      code: 'context_length_exceeded',
      message:
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130042 tokens. Please reduce the length of the messages.",
    },
    128_000,
  ],
  [
    'OpenAI Responses',
    400,
    {
      code: 'context_length_exceeded',
      message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
    },
    undefined,
  ],
  [
    'OpenAI, one request above its rate',
    429,
    {
      code: 'rate_limit_exceeded',
      type: 'tokens',
      message:
        'Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 44120. The input or output tokens must be reduced in order to run successfully.',
    },
    30_000,
  ],
  [
    'Anthropic',
    400,
    { type: 'invalid_request_error', message: 'prompt is too long: 213462 tokens > 200000 maximum' },
    200_000,
  ],
  [
    'Anthropic with its answer',
    400,
    {
      type: 'invalid_request_error',
      message:
        'input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input length or `max_tokens` and try again',
    },
    200_000,
  ],
  [
    'Together AI',
    400,
    { message: "The input (40000 tokens) is longer than the model's context length (32768 tokens)." },
    32_768,
  ],
  [
    'LM Studio',
    400,
    { message: 'The number of tokens to keep from the initial prompt is greater than the context length.' },
    undefined,
  ],
  ['Ollama', 400, { message: 'prompt too long; exceeded max context length by 12 tokens' }, undefined],
  ['Anthropic, bytes', 413, { type: 'request_too_large', message: 'Request exceeds the maximum size' }, undefined],
  [
    'Gemini',
    400,
    {
      code: 400,
      status: 'INVALID_ARGUMENT',
      message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    },
    1_048_576,
  ],
  [
    'Gemini, older',
    400,
    {
      code: 400,
      status: 'INVALID_ARGUMENT',
      message: 'The input token count exceeds the maximum number of tokens allowed 32768.',
    },
    32_768,
  ],
  [
    'vLLM',
    400,
    {
      code: 400,
      type: 'BadRequestError',
      message:
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion).",
    },
    4096,
  ],
  [
    'vLLM, newer',
    400,
    {
      code: 400,
      type: 'BadRequestError',
      message:
        'The decoder prompt (length 5120) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller.',
    },
    4096,
  ],
  [
    'llama.cpp',
    400,
    {
      code: 400,
      type: 'exceed_context_size_error',
      message: 'the request exceeds the available context size, try increasing it',
      n_prompt_tokens: 9000,
      n_ctx: 8192,
    },
    8192,
  ],
  [
    'llama.cpp, words alone',
    500,
    { code: 500, message: 'the request exceeds the available context size (8192 tokens), try increasing it' },
    8192,
  ],
  ['Ollama', 400, { message: 'input length exceeds the context length' }, undefined],
  [
    'OpenRouter',
    400,
    {
      code: 400,
      message:
        "This endpoint's maximum context length is 131072 tokens. However, you requested about 200000 tokens (190000 of text input, 10000 in the output).",
    },
    131_072,
  ],
  [
    'xAI',
    400,
    { message: "This model's maximum prompt length is 131072 but the request contains 537812 tokens." },
    131_072,
  ],
  [
    'LM Studio',
    400,
    {
      message:
        'Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens',
    },
    4096,
  ],
  [
    'Mistral',
    400,
    {
      message: 'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
    },
    32_768,
  ],
  ['a proxy', 413, {}, undefined],
];

test.for(refusals)('%s (%i) is a request that is too long', ([, status, error, window]) => {
  const body = JSON.stringify({ error });
  const deps = { now: () => 0, settings: {} };
  const found = describeFailure(deps, { kind: 'refused', status, headers: {}, body, message: 'words' }, 'ollama/m');
  expect(found).toMatchObject({ code: 'EMODELCONTEXT', retryable: false, window });
});

test.for([
  [
    429,
    {
      code: 'rate_limit_exceeded',
      message:
        'Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 4000. Please try again in 6s.',
    },
    'EMODELRATELIMIT',
  ],
  [429, { message: 'Too many tokens, please wait before trying again.' }, 'EMODELRATELIMIT'],
  [400, { message: "Invalid 'max_tokens': must be at most 4096." }, 'EMODELREQUEST'],
  [400, { message: 'tools.0.custom.description: String should have at most 1024 characters' }, 'EMODELREQUEST'],
  [503, { message: 'The model is overloaded.' }, 'EMODELUNAVAILABLE'],
] as const)('%i %j is %s', ([status, error, code]) => {
  const failure = { kind: 'refused' as const, status, headers: {}, body: JSON.stringify({ error }), message: 'words' };
  expect(describeFailure({ now: () => 0, settings: {} }, failure, 'ollama/m').code).toBe(code);
});

test('a message of any length is judged in linear time', () => {
  const message = `${'input length and '.repeat(200_000)}prompt is too long`;
  expect(readContextRefusal({ status: 400, words: [], message })).toBeNull();
});
