import { expect, test } from 'vitest';
import { describeFailure, type Failure } from './failure.ts';
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
