import type { Scope } from '@holdpoint/contract';
import { type CreateKey, runSchema } from '@holdpoint/contract/wire';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { problemOf, startTestApi, type TestApi } from '../testing/test-api.ts';
import { testWorker } from '../testing/test-worker.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ heartbeatMs: 50, callerLimits: { activeRuns: 3 } });
});
afterAll(() => api.stop());

let names = 0;
const made = (changes: Partial<CreateKey> = {}) => {
  names += 1;
  const scopes: Scope[] = ['runs:read', 'runs:write'];
  return api.client.createKey({ name: `caller ${names}`, kind: 'service', scopes, ...changes });
};
const send = (path: string, key: string, init: RequestInit = {}) =>
  fetch(`${api.address}${path}`, { ...init, headers: { authorization: `Bearer ${key}`, ...init.headers } });
const submit = (key: string, headers: Record<string, string> = {}) =>
  send('/v1/runs', key, {
    method: 'POST',
    body: JSON.stringify({ plan: { groups: [{ steps: [{ tool: 'write_file', args: { path: 'a', content: '' } }] }] } }),
    headers: { 'content-type': 'application/json', ...headers },
  });
const runOf = async (response: Response) => runSchema.parse(await response.json());
/** The text of a stream until it ends or has what is looked for. */
async function readUntil(response: Response, wanted?: string): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk);
    if (wanted !== undefined && text.includes(wanted)) break;
  }
  return text;
}

const follow = (key: string, init: RequestInit = {}) =>
  send('/v1/events', key, { ...init, headers: { accept: 'text/event-stream' } });

describe('a key that sends too many requests', () => {
  test('reads what is left, then how long to wait', async () => {
    const { key } = await made({ limits: { requests_per_s: 1, burst: 3 } });
    const first = await send('/v1/me', key);
    expect(first.headers.get('ratelimit-policy')).toBe('"key";q=3;w=3');
    expect(first.headers.get('ratelimit')).toBe('"key";r=2;t=1');
    const all = await Promise.all(Array.from({ length: 30 }, () => send('/v1/me', key)));
    const refused = all.find(({ status }) => status === 429);
    expect(refused?.headers.get('retry-after')).toBe('1');
    expect(refused && (await problemOf(refused))).toMatchObject({ code: 'too_many_requests' });
    expect((await api.send('/v1/me')).headers.get('ratelimit')).toBeNull();
  });
});

describe('event streams', () => {
  test('of a key are counted until their clients are gone', async () => {
    const { key } = await made({ limits: { streams: 1 } });
    const gone = new AbortController();
    const open = await follow(key, { signal: gone.signal });
    await readUntil(open, ': open').catch(() => undefined);
    const { key: other } = await made({ limits: { streams: 1 } });
    expect((await follow(other)).status).toBe(200);
    const again = await follow(other);
    expect(await problemOf(again)).toMatchObject({ status: 429, code: 'too_many_streams' });
    gone.abort();
    await expect.poll(async () => (await follow(key)).status).toBe(200);
  });

  test.each(['revoked', 'rotated'])('of a key end when it is %s', async (what) => {
    const { id, key } = await made();
    const open = await follow(key);
    await (what === 'revoked' ? api.client.revokeKey(id) : api.client.rotateKey(id));
    expect((await problemOf(await send('/v1/me', key))).status).toBe(401);
    expect(await readUntil(open)).toContain(': open');
  });

  test('have the runs of their own tenant alone, and their heartbeats whatever others do', async () => {
    const acme = await made({ tenant: 'stream-a' });
    const globex = await made({ tenant: 'stream-b' });
    const stream = await follow(acme.key);
    const { id: foreign } = await runOf(await submit(globex.key));
    const { id: own } = await runOf(await submit(acme.key));
    const text = await readUntil(stream, own);
    expect(text).not.toContain(foreign);
    const quiet = await follow(acme.key);
    await submit(globex.key);
    expect(await readUntil(quiet, 'still here')).not.toContain('run.changed');
  });
});

describe('active runs of a tenant', () => {
  test('are counted over requests at the same moment, and an end gives the place back', async () => {
    const { key } = await made({ tenant: 'narrow' });
    const all = await Promise.all(Array.from({ length: 12 }, () => submit(key)));
    const runs = await Promise.all(all.filter(({ status }) => status === 201).map(runOf));
    expect(runs).toHaveLength(3);
    const refused = all.find(({ status }) => status === 429);
    expect(refused?.headers.get('retry-after')).not.toBeNull();
    expect(refused && (await problemOf(refused))).toMatchObject({ code: 'too_many_runs' });
    await testWorker(api.engine, api.dataDir).drive(runs[0]?.id ?? '');
    expect((await submit(key)).status).toBe(201);
    expect((await submit(key)).status).toBe(429);
    expect((await submit((await made({ tenant: 'wide' })).key)).status).toBe(201);
  });
});

test('a request that names no known scope is refused with the nearest', async () => {
  const body = { name: 'x', kind: 'person', scopes: ['runs:read', 'run:wirte'] };
  const problem = await problemOf(await api.post('/v1/keys', body));
  expect(problem).toMatchObject({ status: 422, code: 'unknown_scope', errors: [{ pointer: '/scopes/1' }] });
  expect(problem.detail).toMatch(/Nearest: runs:write/);
});
