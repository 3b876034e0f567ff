import type { Json } from '@holdpoint/contract';
import { modesSchema } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import type { Network, NetworkResponse } from '../../network.ts';
import { createRegistry } from '../../registry/registry.ts';
import { bareContext } from '../../testing/bare-context.ts';
import { presentCliAgent } from './present.ts';
import { cliAgent } from './toolset.ts';

const registry = createRegistry([cliAgent]);

const answer = (body: string | Buffer, more: Partial<NetworkResponse> = {}): NetworkResponse => ({
  ...{ url: 'http://a.test/', status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } },
  ...{ body: Buffer.from(body), truncated: false, hops: ['http://a.test/'] },
  ...more,
});
const refusing = (code: string, message: string) => (): Promise<never> =>
  Promise.reject(Object.assign(new Error(message), { code, next: 'do otherwise' }));

async function fetchPage(given: object, fetch?: Network['fetch']) {
  const args = given as Json;
  const network = fetch && { hosts: [], isListed: () => true, fetch };
  const context = bareContext(undefined, network);
  const outcome = await registry.execute({ toolset: 'cli-agent', tool: 'fetch_webpage', args, context });
  if (outcome.status === 'deferred') throw new Error('it waits');
  const { status, value } = outcome;
  const times = { created_at: '', started_at: null, settled_at: '', queued_ms: 0, duration_ms: 1 };
  const error = outcome.status === 'succeeded' ? undefined : outcome.error;
  const settled = { status, value: value as Json, error, times, settings: {}, modes: modesSchema.parse({}) };
  return presentCliAgent({ tool: 'fetch_webpage', args, ...settled });
}
const url = 'http://a.test/ok';
const failed = (code: string, message?: string) => ({
  success: false,
  ...(message !== undefined && { output: `Error: ${message}` }),
  error: { code, suggestion: expect.stringMatching(/./) },
});

// covers S0-100, S0-140
test('fetch_webpage returns one line about the page, then its body', async () => {
  expect(await fetchPage({ url }, async () => answer('<p>hi</p>'))).toEqual({
    success: true,
    output: `Fetched content from ${url} (0.0 KB)\n<p>hi</p>`,
    files_affected: [],
    metadata: { url, status_code: 200, content_length: 9, content_type: 'text/html; charset=utf-8' },
    execution_time_ms: 1,
  });
  const missing = await fetchPage({ url }, async () => answer('no', { status: 404, headers: {} }));
  expect(missing).toMatchObject({ success: true, metadata: { status_code: 404, content_type: '' } });
  expect(await fetchPage({ url }, async () => answer(''))).toMatchObject({ metadata: { content_length: 0 } });
});

// covers S0-104
test('fetch_webpage shows the first megabyte of a larger page, with a warning', async () => {
  let asked = 0;
  const large = await fetchPage({ url }, async ({ max_bytes = 0 }) => {
    asked = max_bytes;
    return answer('x'.repeat(max_bytes), { truncated: true });
  });
  expect(asked).toBe(1_048_576);
  expect(large).toMatchObject({
    success: true,
    output: expect.stringMatching(
      /^Response too large \(>1MB\), truncating\nFetched content from .* \(1024\.0 KB\)\nx/,
    ),
    metadata: { truncated: true },
  });
});

// covers S0-101, S0-102, S0-103, S0-106, S0-140
test('fetch_webpage says why there is no page', async () => {
  for (const bad of ['http://', 'no url', 'ftp://a.test/', 'file:///etc/passwd', '']) {
    expect(await fetchPage({ url: bad }, async () => answer('x'))).toMatchObject(
      failed('invalid_url', 'Invalid URL format'),
    );
  }
  const late = await fetchPage({ url, timeout_seconds: 3 }, refusing('ETIMEOUT', 'too late'));
  expect(late).toMatchObject(failed('request_timeout', 'Request timed out after 3 seconds'));
  const refused = await fetchPage({ url }, refusing('ENETWORK', 'connection refused'));
  expect(refused).toMatchObject(failed('network_error', 'Failed to fetch - connection refused'));
  for (const code of ['EADDRESSREFUSED', 'EHOSTNOTALLOWED', 'EREDIRECTREFUSED']) {
    expect(await fetchPage({ url }, refusing(code, 'no'))).toMatchObject(failed('url_not_allowed'));
  }
  expect(await fetchPage({ url }, refusing('EURLINVALID', 'no'))).toMatchObject(failed('invalid_url'));
  expect(await fetchPage({ url })).toMatchObject(failed('url_not_allowed'));
});

// covers S0-106
test('fetch_webpage brings the address of a call as a rule, and leaves names to an approval', () => {
  const reaches = (url: string) =>
    registry.reaches({ toolset: 'cli-agent', tool: 'fetch_webpage', args: { url }, settings: {} });
  expect(reaches('http://a.test/')).toEqual([]);
  expect(reaches('http://127.0.0.1:8080/x')).toEqual(['127.0.0.1:8080']);
  expect(reaches('https://[::1]/')).toEqual(['[::1]:443']);
  expect(reaches('no url')).toEqual([]);
});

// covers S0-02, S0-105
test('fetch_webpage refuses bad parameters', async () => {
  for (const more of [
    { timeout_seconds: 0 },
    { timeout_seconds: 61 },
    { timeout_seconds: '5' },
    { url: 5 },
    { to: 1 },
  ]) {
    expect(await fetchPage({ url, ...more })).toMatchObject(failed('invalid_parameters'));
  }
  expect(await fetchPage({})).toMatchObject(failed('invalid_parameters'));
});
