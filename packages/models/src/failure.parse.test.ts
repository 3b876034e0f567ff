import { expect, test } from 'vitest';
import { describeFailure, type Failure } from './failure.ts';
import { wordings } from './provider-words.ts';
import { readRetryAfter } from './read-problem.ts';

const now = Date.parse('2026-11-20T12:00:00Z');
const deps = { now: () => now, settings: { openai: { apiKey: 'sk-secret-123456' } } };

function describe(failure: Partial<Failure>) {
  return describeFailure(
    deps,
    { kind: 'refused', headers: {}, body: '', message: 'words', ...failure },
    'openai/gpt-5',
  );
}

test.each([
  [400, 'EMODELREQUEST', false],
  [401, 'EMODELAUTH', false],
  [402, 'EMODELQUOTA', false],
  [403, 'EMODELAUTH', false],
  [404, 'EMODELREQUEST', false],
  [408, 'EMODELUNAVAILABLE', true],
  [409, 'EMODELUNAVAILABLE', true],
  [413, 'EMODELCONTEXT', false],
  [422, 'EMODELREQUEST', false],
  [429, 'EMODELRATELIMIT', true],
  [500, 'EMODELUNAVAILABLE', true],
  [501, 'EMODELREQUEST', false],
  [503, 'EMODELUNAVAILABLE', true],
  [529, 'EMODELUNAVAILABLE', true],
])('status %i is %s', (status, code, retryable) => {
  const error = describe({ status });
  expect(error).toMatchObject({ code, retryable, status });
  expect(error.message).toBe(`openai/gpt-5 answered ${status}: words`);
  expect(error.next).toMatch(/\.$/);
});

test('an empty account is no rate limit', () => {
  const body = JSON.stringify({
    error: { message: 'no credit', type: 'insufficient_quota', code: 'insufficient_quota' },
  });
  expect(describe({ status: 429, body })).toMatchObject({ code: 'EMODELQUOTA', retryable: false });
});

test.each([
  [{ error: { code: 502, message: 'upstream' } }, 'EMODELUNAVAILABLE'],
  [{ error: { code: 429, message: 'slow' } }, 'EMODELRATELIMIT'],
  [{ error: { type: 'overloaded_error', message: 'busy' } }, 'EMODELUNAVAILABLE'],
  [{ error: 'something' }, 'EMODELANSWER'],
  [{ choices: 'none' }, 'EMODELANSWER'],
])('an error inside a 200 counts by its own word: %j', (body, code) => {
  expect(describe({ kind: 'unreadable', status: 200, body: JSON.stringify(body) })).toMatchObject({ code });
});

test('a key that the provider repeats is hidden', () => {
  const body = JSON.stringify({ error: { message: 'Incorrect API key provided: sk-secret-123456.' } });
  expect(describe({ status: 401, body }).message).toBe('openai/gpt-5 answered 401: Incorrect API key provided: [key].');
});

test.each([
  [{ 'retry-after': '7' }, 7000],
  [{ 'retry-after': '1.5' }, 1500],
  [{ 'retry-after': '7', 'retry-after-ms': '250' }, 250],
  [{ 'retry-after': 'Fri, 20 Nov 2026 12:01:30 GMT' }, 90_000],
  [{ 'retry-after': 'Fri, 20 Nov 2026 11:00:00 GMT' }, 0],
  [{ 'retry-after': 'soon' }, undefined],
  [{}, undefined],
])('%j means %s ms', (headers, expected) => {
  expect(readRetryAfter(deps, { headers: headers as Record<string, string>, details: [] })).toBe(expected);
  expect(describe({ status: 503, headers: headers as Record<string, string> }).retryAfterMs).toBe(expected);
});

/** Bodies as providers sent them; each source is in the table. */
test.each([
  [
    400,
    {
      type: 'invalid_request_error',
      message:
        'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
    },
    'EMODELQUOTA',
  ],
  [
    400,
    {
      type: 'invalid_request_error',
      message: 'You have reached your specified API usage limits. You will regain access on 2026-04-01 at 00:00 UTC.',
    },
    'EMODELQUOTA',
  ],
  [402, { type: 'billing_error', message: 'There is an issue with your billing.' }, 'EMODELQUOTA'],
  [
    429,
    {
      type: 'billing_not_active',
      code: 'billing_not_active',
      message: 'Your account is not active, please check your billing details on our website.',
    },
    'EMODELQUOTA',
  ],
  [400, { message: 'Billing hard limit has been reached' }, 'EMODELQUOTA'],
  [
    429,
    {
      code: 429,
      status: 'RESOURCE_EXHAUSTED',
      message: 'Your prepayment credits are depleted. Please go to AI Studio to manage your project and billing.',
    },
    'EMODELQUOTA',
  ],
  [
    429,
    {
      code: 429,
      status: 'RESOURCE_EXHAUSTED',
      message: 'You exceeded your current quota, please check your plan and billing details.',
    },
    'EMODELRATELIMIT',
  ],
  [
    402,
    {
      code: 402,
      message:
        'This request requires more credits, or fewer max_tokens. You requested up to 16384 tokens, but can only afford 3919.',
    },
    'EMODELQUOTA',
  ],
  [
    400,
    {
      type: 'invalid_request_error',
      code: 'invalid_prompt',
      message:
        'Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again with a different prompt',
    },
    'EMODELPOLICY',
  ],
  [
    400,
    {
      code: 'content_filter',
      message: 'The response was filtered due to the prompt triggering the content management policy.',
    },
    'EMODELPOLICY',
  ],
  [
    403,
    { code: 403, message: 'This model requires moderation on OpenAI. Your input was flagged for "violence".' },
    'EMODELPOLICY',
  ],
  [
    400,
    { code: '400', message: 'The request was blocked.', innererror: { code: 'ResponsibleAIPolicyViolation' } },
    'EMODELPOLICY',
  ],
  [
    402,
    {
      code: 402,
      message: 'Requests under way hold the rest of your credits.',
      metadata: { limit_source: 'openrouter_in_flight_budget' },
    },
    'EMODELRATELIMIT',
  ],
  [
    402,
    { code: 402, message: 'Insufficient credits.', metadata: { limit_source: 'openrouter_credits' } },
    'EMODELQUOTA',
  ],
  [529, { type: 'overloaded_error', message: 'Overloaded' }, 'EMODELUNAVAILABLE'],
  [400, { type: 'invalid_request_error', message: 'max_tokens: must be at least 1' }, 'EMODELREQUEST'],
])('a refusal with %i counts by its words: %j', (status, error, code) => {
  expect(describe({ status, body: JSON.stringify({ type: 'error', error }) })).toMatchObject({ code });
  // The same words as an event of a stream.
  if (code !== 'EMODELREQUEST') expect(describe({ kind: 'failed', status: 200, body: { error } }).code).toBe(code);
});

test('half an answer that quotes such words is no refusal', () => {
  const body = '{"choices":[{"message":{"content":"Your credit balance is too low';
  expect(describe({ kind: 'broken', status: 200, body })).toMatchObject({ code: 'EMODELCUTOFF', retryable: true });
});

test('each row of the table has its words and its source', () => {
  expect(wordings.filter(({ name, says }) => name === undefined && says === undefined)).toEqual([]);
  for (const { source } of wordings) expect(URL.canParse(source)).toBe(true);
});
