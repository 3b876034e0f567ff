import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { Network } from '../../network.ts';
import { createRegistry } from '../../registry/registry.ts';
import { bareContext } from '../../testing/bare-context.ts';
import { loopbackNetwork } from '../../testing/loopback-network.ts';
import { useWebServer } from '../../testing/web-server.ts';
import { presentWorkbench } from './present.ts';
import { workbench } from './toolset.ts';

const server = useWebServer();
const registry = createRegistry([workbench]);
const times = { created_at: '', started_at: '', settled_at: '', queued_ms: 0, duration_ms: 7 };
const modes = { read_only: false, dry_run: false, deterministic: false };
const call = (args: object) => ({ toolset: 'workbench', tool: 'web_fetch', args });

interface Options {
  network?: Network | undefined;
  list?: string[];
  settings?: object;
  signal?: AbortSignal;
}

async function fetchFrom(path: string, args: object = {}, options: Options = {}) {
  const url = path.startsWith('/') ? server().origin + path : path;
  const network = 'network' in options ? options.network : loopbackNetwork({ allow: [server().host] });
  const settings = { url_allowlist: options.list ?? [server().origin], ...options.settings };
  const context = { ...bareContext(options.signal, network), settings };
  const outcome = await registry.execute({ ...call({ url, ...args }), context });
  if (outcome.status === 'deferred') throw new Error('it waits');
  const error = outcome.status === 'succeeded' ? undefined : outcome.error;
  const { status, value } = outcome;
  const settled = { tool: 'web_fetch', args: {}, status, value: value as null, error, times, settings: {}, modes };
  return presentWorkbench(settled);
}
const asks = (url: string, list: string[] = []) =>
  registry.asks({ ...call({ url }), context: { ...bareContext(), settings: { url_allowlist: list } } });
const isRefused = (code: string) => ({ ok: false, error: { code, message: expect.any(String) } });

// covers S2-90
test('an answer is its status, headers and body', async () => {
  server().serve('/x', { status: 201, type: 'text/plain', headers: { 'X-A': '1' }, body: 'bödy 𝄞' });
  expect(await fetchFrom('/x')).toEqual({
    ok: true,
    value: {
      status: 201,
      headers: expect.objectContaining({ 'x-a': '1', 'content-type': 'text/plain' }),
      body: 'bödy 𝄞',
    },
  });
});

// covers S2-90
test.each([404, 500, 304])('the status %i is a result', async (status) => {
  server().serve('/s', { status });
  expect(await fetchFrom('/s')).toMatchObject({ ok: true, value: { status, body: '' } });
});

// covers S2-90
test('a POST sends its body and headers', async () => {
  server().serve('/echo', (request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => response.end(JSON.stringify([request.method, request.headers['x-b'], body])));
  });
  const result = await fetchFrom('/echo', { method: 'POST', headers: { 'X-B': '2' }, body: 'dätä' });
  expect(result).toMatchObject({ ok: true, value: { body: JSON.stringify(['POST', '2', 'dätä']) } });
  expect(await fetchFrom('/echo', { method: 'POST' })).toMatchObject({ value: { body: '["POST",null,""]' } });
});

// covers S2-90
test('a body that is no text comes as base64', async () => {
  const body = gzipSync('x');
  server().serve('/b', { type: 'application/octet-stream', body });
  expect(await fetchFrom('/b')).toMatchObject({
    value: { body: body.toString('base64'), encoding: 'base64' },
  });
});

// covers S2-90, C-04
test('a text is decoded by its charset, and its marks are kept', async () => {
  server().serve('/latin', { type: 'text/plain; charset=iso-8859-1', body: Buffer.from('caf\xe9', 'latin1') });
  expect(await fetchFrom('/latin')).toMatchObject({ value: { body: 'café' } });
  server().serve('/bom', { type: 'text/plain; charset=utf-8', body: '\ufeffa\r\nb' });
  expect(await fetchFrom('/bom')).toMatchObject({ value: { body: '\ufeffa\r\nb' } });
});

// covers S2-90
test('a long body is cut and marked', async () => {
  server().serve('/long', { body: 'x'.repeat(100) });
  expect(await fetchFrom('/long', {}, { settings: { body_bytes: 10 } })).toMatchObject({
    value: { body: 'x'.repeat(10), truncated: true },
  });
});

// covers S2-91, S2-A08
test.each([
  ['https://listed.test/a?b', ['https://listed.test'], null],
  ['https://listed.test/', ['listed.test'], null],
  ['http://listed.test/', ['https://listed.test'], 'http://listed.test is not on'],
  ['https://listed.test:8443/', ['https://listed.test'], 'https://listed.test:8443 is not on'],
  ['https://a.listed.test/', ['listed.test'], 'https://a.listed.test is not on'],
  ['https://listed.test@evil.test/', ['listed.test'], 'https://evil.test is not on'],
  ['https://other.test/', [], 'https://other.test is not on'],
  ['http://127.0.0.1/', [], 'http://127.0.0.1 is not on'],
])('about %s with the list %j a person is asked: %s', async (url, list, question) => {
  expect(await asks(url, list)).toEqual(question === null ? null : expect.stringContaining(question));
});

// covers S2-91
test('a redirect within the list is followed', async () => {
  server().serve('/from', { status: 302, headers: { location: '/to' } });
  server().serve('/to', { body: 'here' });
  expect(await fetchFrom('/from')).toMatchObject({ ok: true, value: { status: 200, body: 'here' } });
});

// covers S2-91
test('a redirect that leads off the list is refused, whatever the network allows', async () => {
  const { port } = new URL(server().origin);
  let hits = 0;
  server().serve('/from', { status: 302, headers: { location: `http://localhost:${port}/to` } });
  server().serve('/to', (_request, response) => {
    hits += 1;
    response.end('secret');
  });
  const network = loopbackNetwork({ allow: [server().host, `localhost:${port}`] });
  const result = await fetchFrom('/from', {}, { network });
  expect(result).toMatchObject(isRefused('PERMISSION_DENIED'));
  expect(JSON.stringify(result)).not.toContain('secret');
  expect(hits).toBe(0);
  const list = [server().origin, `http://localhost:${port}`];
  expect(await fetchFrom('/from', {}, { network, list })).toMatchObject({ value: { body: 'secret' } });
});

// covers S2-91
test('an address that a person approved may redirect within its origin alone', async () => {
  const { port } = new URL(server().origin);
  server().serve('/here', { status: 302, headers: { location: '/to' } });
  server().serve('/away', { status: 302, headers: { location: `http://localhost:${port}/to` } });
  server().serve('/to', { body: 'ok' });
  const network = loopbackNetwork({ allow: [server().host, `localhost:${port}`] });
  expect(await fetchFrom('/here', {}, { network, list: [] })).toMatchObject({ value: { body: 'ok' } });
  expect(await fetchFrom('/away', {}, { network, list: [] })).toMatchObject(isRefused('PERMISSION_DENIED'));
});

// covers S2-64, S2-A10
test('a slow answer is a TIMEOUT', async () => {
  server().serve('/slow', () => {});
  expect(await fetchFrom('/slow', { timeout: 0.05 })).toMatchObject(isRefused('TIMEOUT'));
});

// covers S2-A10
test('the default time limit is 30 s', () => {
  expect(registry.describe(call({ url: 'https://a.test/' }))).toMatchObject({
    ok: true,
    args: { timeout: 30, method: 'GET', headers: {} },
  });
});

// covers S2-66
test('a server that does not answer is a NETWORK_ERROR', async () => {
  const network = loopbackNetwork({ allow: ['127.0.0.1:1'] });
  expect(await fetchFrom('http://127.0.0.1:1/', {}, { network })).toMatchObject(isRefused('NETWORK_ERROR'));
});

// covers S2-62
test('a host that the run may not reach is refused', async () => {
  expect(await fetchFrom('https://other.test/')).toMatchObject(isRefused('PERMISSION_DENIED'));
  expect(await fetchFrom('/x', {}, { network: undefined })).toMatchObject(isRefused('PERMISSION_DENIED'));
});

// covers S2-66, C-09
test.each([
  [{}],
  [{ url: '' }],
  [{ url: 'no url' }],
  [{ url: 'ftp://a.test/' }],
  [{ url: 'file:///etc/passwd' }],
  [{ url: 'javascript:1' }],
  [{ url: 'https://a.test/', method: 'DELETE' }],
  [{ url: 'https://a.test/', body: 'x' }],
  [{ url: 'https://a.test/', method: 'POST', body: { a: 1 } }],
  [{ url: 'https://a.test/', headers: { a: 1 } }],
  [{ url: 'https://a.test/', timeout: -1 }],
  [{ url: 'https://a.test/', follow: true }],
])('refuses the arguments %j', async (args) => {
  expect(registry.describe(call(args))).toMatchObject({ ok: false, error: { code: 'EINVALIDARGS' } });
});

// covers S2-90
test('a GET reads, a POST is an effect outside, and both name their host', () => {
  const url = 'https://a.test:8443/';
  expect(registry.describe(call({ url }))).toMatchObject({ effect: 'read', touches: { hosts: ['a.test:8443'] } });
  expect(registry.describe(call({ url, method: 'POST' }))).toMatchObject({ effect: 'external', looks: true });
});

// covers S2-91
test('the list opens its hosts for the call', () => {
  const settings = { url_allowlist: ['https://a.test', '*.b.test:8443'] };
  const args = { url: 'https://a.test/' };
  expect(registry.reaches({ ...call(args), settings })).toEqual(['a.test:443', '*.b.test:8443']);
  expect(registry.reaches({ ...call(args), settings: {} })).toEqual([]);
  expect(registry.reaches({ toolset: 'workbench', tool: 'read_file', args: { path: 'a' }, settings })).toBeUndefined();
});
