import { request } from 'node:http';
import { hostname } from 'node:os';
import { fastify } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contentOf, problemOf, startTestApi, type TestApi } from '../testing/test-api.ts';
import { requireDeclaredAccess } from './guard-access.ts';
import { isLoopback } from './guard-host.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

/** A request with headers that fetch does not let one choose. */
function ask(
  path: string,
  headers: Record<string, string>,
  address = api.address,
): Promise<{ status: number; code: string | undefined }> {
  return new Promise((resolve, reject) => {
    const asked = request(`${address}${path}`, { headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, code: JSON.parse(text).code }));
    });
    asked.on('error', reject).end();
  });
}

const port = () => new URL(api.address).port;

describe('without the key', () => {
  test.each([
    ['none', {}],
    ['another', { authorization: `Bearer hp_${'A'.repeat(43)}` }],
    ['no Bearer', { authorization: 'Basic aGk6aG8=' }],
    ['an empty one', { authorization: 'Bearer ' }],
  ])('%s: 401, whatever is asked for', async (_name, headers) => {
    const before = await contentOf(api.engine);
    for (const [method, path] of [
      ['GET', '/v1/runs'],
      ['POST', '/v1/runs'],
      ['GET', '/v1/events'],
      ['GET', '/v1/nothing'],
      ['GET', '/docsx'],
      ['GET', '/%76%31/runs'],
    ] as const) {
      const response = await fetch(`${api.address}${path}`, { method, headers });
      expect(response.headers.get('www-authenticate')).toBe('Bearer');
      const problem = await problemOf(response);
      expect(problem).toMatchObject({ code: 'unauthorized', status: 401, next: expect.stringContaining('api-key') });
      expect(JSON.stringify(problem)).not.toContain(api.key);
    }
    expect(await contentOf(api.engine)).toEqual(before);
  });

  test.each(['/healthz', '/readyz', '/openapi.json', '/docs/', '/docs/js/scalar.js'])('%s is open', async (path) => {
    const response = await fetch(`${api.address}${path}`);
    expect(response.status).toBe(200);
    await response.body?.cancel();
  });
});

test('a route that declares no access does not start the server', () => {
  const app = fastify().withTypeProvider<ZodTypeProvider>();
  requireDeclaredAccess(app);
  app.get('/v1/declared', { config: { access: 'runs:read' } }, async () => 'x');
  expect(() => app.get('/v1/forgotten', async () => 'x')).toThrow('the route /v1/forgotten declares no access');
});

describe('a server that listens on every address', () => {
  let wide: TestApi;
  beforeAll(async () => {
    wide = await startTestApi({ host: '0.0.0.0', hostNames: ['api.house.example'] });
  });
  afterAll(() => wide.stop());
  const status = async (host: string) =>
    (await ask('/healthz', { host: `${host}:${new URL(wide.address).port}` }, wide.address)).status;

  test.each([
    '127.0.0.1',
    '192.168.1.4',
    '[fe80::1]',
    'localhost',
    hostname(),
    'api.house.example',
    'API.house.example',
  ])('answers to %s', async (host) => expect(await status(host)).toBe(200));

  test.each(['evil.example', '192.168.1.4.evil.example', 'api.house.example.evil.example', 'x', ''])(
    'and not to %s, which a page may point to it',
    async (host) => expect(await status(host)).toBe(421),
  );
});

describe('a page in a browser is kept out', () => {
  const key = () => ({ authorization: `Bearer ${api.key}` });

  test.each([
    'evil.example',
    'evil.example:4747',
    '192.168.1.4',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '[::2]',
    '0.0.0.0',
  ])('with the name %s for this address (DNS rebinding)', async (host) => {
    expect(await ask('/v1/runs', { ...key(), host })).toEqual({ status: 421, code: 'misdirected_request' });
    expect((await ask('/healthz', { host })).status).toBe(421);
  });

  test.each(['localhost', '127.0.0.1', '127.8.8.8', '[::1]', 'LOCALHOST'])(
    'and the loopback name %s is fine',
    async (host) => {
      expect((await ask('/v1/runs', { ...key(), host: `${host}:${port()}` })).status).toBe(200);
    },
  );

  test.each(['https://evil.example', 'null', 'http://127.0.0.1:1', 'garbage'])('from the origin %s', async (origin) => {
    expect(await ask('/v1/runs', { ...key(), origin })).toEqual({ status: 403, code: 'origin_not_allowed' });
  });

  test('and one of this server itself is fine', async () => {
    expect((await ask('/v1/runs', { ...key(), origin: api.address })).status).toBe(200);
  });
});

test('an address is loopback by its value, not by its text', () => {
  expect(['localhost', '127.0.0.1', '127.255.0.1', '::1'].map(isLoopback)).toEqual([true, true, true, true]);
  expect(['0.0.0.0', '::', '127.0.0.1.x', '127.1', '10.0.0.1', ''].some(isLoopback)).toBe(false);
});
