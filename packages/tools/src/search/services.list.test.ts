import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createRegistry } from '../registry/registry.ts';
import { bareContext } from '../testing/bare-context.ts';
import { loopbackNetwork } from '../testing/loopback-network.ts';
import { useWebServer } from '../testing/web-server.ts';
import { createHoldpointToolset } from '../toolsets/holdpoint/toolset.ts';
import { openSearch, type SearchSettings } from './open-search.ts';

const server = useWebServer();
const key = 'KEY-0123456789+/=';

function search(provider: SearchSettings['provider'], args: object = { query: 'a&b "c" é#', max_results: 2 }) {
  const engine = openSearch({ provider, key, endpoint: `${server().origin}/search` });
  const registry = createRegistry([createHoldpointToolset({ search: engine })]);
  const network = loopbackNetwork({ allow: [server().host] });
  return registry.execute({ toolset: 'holdpoint', tool: 'web_search', args, context: bareContext(undefined, network) });
}

const result = { title: 'Hold  points', url: 'https://docs.test/a' };
const other = { title: 'Other', url: 'https://other.test/' };
const hostile = { title: 'x', url: 'javascript:alert(1)' };
/** Answers in the published form of each service. */
const forms = {
  brave: {
    type: 'search',
    query: { original: 'q' },
    web: { type: 'search', results: [{ ...result, description: 'A step.' }, hostile, { ...other, description: key }] },
  },
  tavily: {
    query: 'q',
    answer: null,
    images: [],
    results: [
      { ...result, content: 'A step.', score: 0.9 },
      { ...hostile, content: '' },
      { ...other, content: key },
    ],
    response_time: 1.2,
  },
  searxng: {
    query: 'q',
    results: [{ ...result, content: 'A step.', engine: 'e' }, hostile, { ...other, content: 'More.' }],
    unresponsive_engines: [],
  },
};
const services = Object.keys(forms) as (keyof typeof forms)[];

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

describe.each(services)('%s', (provider) => {
  it('reads its results, without those that are no pages or repeat the key', async () => {
    server().serve('/search', { type: 'application/json', body: JSON.stringify(forms[provider]) });
    const first = { title: 'Hold points', url: result.url, snippet: 'A step.' };
    const more = provider === 'searxng' ? [{ ...other, snippet: 'More.' }] : [];
    const outcome = await search(provider);
    expect(outcome).toMatchObject({ status: 'succeeded', value: { results: [first, ...more] } });
    expect(JSON.stringify(outcome)).not.toContain(key);
  });

  it.each([
    [401, {}, 'ESEARCHREFUSED', 'HTTP 401'],
    [429, { 'retry-after': '17' }, 'ESEARCHREFUSED', 'again in 17 s'],
    [429, { 'x-ratelimit-reset': '3, 1419704' }, 'ESEARCHREFUSED', 'again in 3 s'],
    [429, { 'retry-after': key }, 'ESEARCHREFUSED', 'used up (HTTP 429).'],
    [503, {}, 'EHTTPSTATUS', 'HTTP 503'],
  ])('says why it refused: %i %j', async (status, headers, code, words) => {
    server().serve('/search', (_, response) => {
      response.writeHead(status, headers).end(JSON.stringify({ detail: { error: `bad key ${key}` } }));
    });
    const outcome = await search(provider);
    expect(outcome).toMatchObject({ status: 'failed', error: { code, message: expect.stringContaining(words) } });
    expect(JSON.stringify(outcome)).not.toContain(key);
  });

  it.each([
    ['HTML', '<!doctype html><title>Blocked</title>'],
    ['a cut answer', JSON.stringify(forms.tavily).slice(0, -9)],
    ['another form', '{"results":[{"title":1}],"web":7,"type":"search"}'],
    ['an answer of 10 MB', `{"type":"search","results":[],"web":{"results":[]},"x":"${'x'.repeat(10_000_000)}"}`],
  ])('refuses %s', async (_, body) => {
    server().serve('/search', { type: 'application/json', body });
    expect(await search(provider)).toMatchObject({ status: 'failed', error: { code: 'ESEARCHUNREADABLE' } });
  });

  it('sends the query and the key in its published form, and follows no redirect with them', async () => {
    const asked: { url: URL; headers: IncomingMessage['headers']; method?: string | undefined; body: string }[] = [];
    server().serve('/search', async (request, response) => {
      const { url = '', headers, method } = request;
      asked.push({ url: new URL(url, server().origin), headers, method, body: await bodyOf(request) });
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    server().serve('/elsewhere', { type: 'application/json', body: JSON.stringify(forms[provider]) });
    expect(await search(provider)).toMatchObject({ status: 'failed' });
    expect(asked).toHaveLength(1);
    const [{ url, headers, method, body } = { url: new URL('http://x/'), headers: {}, body: '' }] = asked;
    const query = Object.fromEntries(url.searchParams);
    if (provider === 'brave') {
      expect(query).toEqual({ q: 'a&b "c" é#', count: '2', text_decorations: 'false' });
      expect(headers['x-subscription-token']).toBe(key);
    } else if (provider === 'tavily') {
      expect([method, query, JSON.parse(body)]).toEqual(['POST', {}, { query: 'a&b "c" é#', max_results: 2 }]);
      expect(headers.authorization).toBe(`Bearer ${key}`);
    } else {
      expect(query).toEqual({ q: 'a&b "c" é#', format: 'json' });
      expect(JSON.stringify(headers)).not.toContain(key);
    }
  });
});

it.each([
  [{ provider: 'brave' }, /needs HOLDPOINT_WEB_SEARCH_KEY/],
  [{ provider: 'tavily', key: 'short' }, /needs HOLDPOINT_WEB_SEARCH_KEY/],
  [{ provider: 'brave', key, endpoint: 'http://search.test/' }, /must begin with https/],
  [{ provider: 'searxng' }, /needs HOLDPOINT_SEARCH_ENDPOINT/],
] as const)('refuses %j at the start, without the value', (settings, words) => {
  expect(() => openSearch(settings)).toThrow(words);
  expect(() => openSearch(settings)).not.toThrow(key);
});
