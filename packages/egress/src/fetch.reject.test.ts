import { existsSync, readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { classifyAddress } from './address.ts';
import { createGuard, type Guard } from './guard.ts';
import { type FetchRequest, openGuardedFetch } from './guarded-fetch.ts';
import { loopback, loopbackGuard, loopbackServers, makeCertificate, openCanary, recorder } from './testing/network.ts';

const certificate = makeCertificate(['good.test', 'other.test']);
setDefaultCACertificates([...getCACertificates('default'), certificate.cert]);
const servers = loopbackServers();
afterEach(servers.close);

async function run(guard: Guard, request: Omit<FetchRequest, 'signal'>) {
  const { connections, onConnection } = recorder();
  await using web = openGuardedFetch({ guard, onConnection });
  const settled = await web.fetch({ ...request, signal: AbortSignal.timeout(20_000) }).then(
    (result) => ({ result, error: null }),
    (error: unknown) => ({ result: null, error: error as { code: string; message: string; next: string } }),
  );
  return { ...settled, connections };
}

/** Answers with the request as JSON. */
const echo: RequestListener = (request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (chunk: string) => {
    body += chunk;
  });
  request.on('end', () =>
    response.end(JSON.stringify({ method: request.method, url: request.url, headers: request.headers, body })),
  );
};
const echoed = (body: Buffer) =>
  JSON.parse(body.toString()) as { method: string; url: string; headers: Record<string, string>; body: string };
const redirectTo =
  (location: string, status = 302): RequestListener =>
  (_request, response) =>
    response.writeHead(status, { location }).end();

test('a listed host is fetched and the connection reported', async () => {
  const port = await servers.http(echo);
  const url = `http://good.test:${port}/path?q=1#fragment`;
  const { result, connections } = await run(loopbackGuard([`good.test:${port}`]), {
    url,
    headers: { 'X-Mine': 'yes' },
  });
  expect(result).toMatchObject({ url: `http://good.test:${port}/path?q=1`, status: 200, truncated: false });
  expect(echoed(result?.body ?? Buffer.alloc(0))).toMatchObject({
    url: '/path?q=1',
    headers: { host: `good.test:${port}`, 'x-mine': 'yes', 'accept-encoding': 'gzip, br', connection: 'close' },
  });
  expect(connections).toEqual([
    {
      host: 'good.test',
      port,
      address: '127.0.0.1',
      verdict: 'allowed',
      reason: undefined,
      bytes_up: expect.any(Number),
      bytes_down: expect.any(Number),
      duration_ms: expect.any(Number),
      at: expect.any(Number),
    },
  ]);
  expect(connections[0]?.bytes_up).toBeGreaterThan(50);
  expect(connections[0]?.bytes_down).toBeGreaterThan(result?.body.length ?? 0);
});

test('https sends the name in the URL and accepts only its certificate', async () => {
  const asked: unknown[] = [];
  const port = await servers.https(certificate, (request, response) => {
    asked.push((request.socket as TLSSocket).servername);
    echo(request, response);
  });
  const guard = loopbackGuard([`good.test:${port}`, `wrong.test:${port}`]);
  const { result, connections } = await run(guard, { url: `https://GOOD.test.:${port}/` });
  expect(result?.status).toBe(200);
  expect(echoed(result?.body ?? Buffer.alloc(0)).headers).toMatchObject({ host: `good.test:${port}` });
  expect(connections).toMatchObject([{ verdict: 'allowed', address: '127.0.0.1' }]);
  expect(asked).toEqual(['good.test']);
  const wrong = await run(guard, { url: `https://wrong.test:${port}/` });
  expect(wrong.error).toMatchObject({ code: 'ENETWORK', message: expect.stringContaining('No secure connection') });
  expect(wrong.connections).toMatchObject([{ verdict: 'allowed', reason: 'ENETWORK' }]);
  const untrustedPort = await servers.https(makeCertificate(['good.test']), echo);
  const untrusted = await run(loopbackGuard([`good.test:${untrustedPort}`]), {
    url: `https://good.test:${untrustedPort}/`,
  });
  expect(untrusted.error).toMatchObject({ code: 'ENETWORK', message: expect.stringContaining('self-signed') });
});

test.each([
  ['not a url', 'EURLINVALID'],
  ['/relative', 'EURLINVALID'],
  ['ftp://good.test/', 'EURLINVALID'],
  ['file:///etc/passwd', 'EURLINVALID'],
  ['data:text/plain,hello', 'EURLINVALID'],
  ['http://user:secret@good.test/', 'EURLINVALID'],
  ['http://', 'EURLINVALID'],
  ['http://other.test/', 'EHOSTNOTALLOWED'],
  ['http://good.test:22/', 'EHOSTNOTALLOWED'],
])('%s is %s', async (url, code) => {
  const { error } = await run(loopbackGuard(['good.test']), { url });
  expect(error).toMatchObject({ code, next: expect.stringMatching(/\w/) });
});

test.each<Partial<FetchRequest>>([
  { method: 'CONNECT' },
  { method: 'GET', body: 'x' },
  { headers: { Host: 'internal.test' } },
  { headers: { 'transfer-encoding': 'chunked' } },
  { headers: { 'x-split': 'a\r\nhost: internal.test' } },
  { headers: { 'bad name': 'x' } },
])('the request %j is refused', async (request) => {
  const { error, connections } = await run(loopbackGuard(['good.test']), { url: 'http://good.test/', ...request });
  expect(error).toMatchObject({ code: 'EURLINVALID' });
  expect(connections).toEqual([]);
});

test('redirects are followed and every hop reported', async () => {
  const last = await servers.http(echo);
  const first = await servers.http((request, response) =>
    redirectTo(request.url === '/1' ? '/2' : `http://other.test:${last}/end`)(request, response),
  );
  const guard = loopbackGuard([`good.test:${first}`, `other.test:${last}`]);
  const headers = { authorization: 'secret', cookie: 'secret', 'x-api-key': 'secret', accept: 'text/html' };
  const { result, connections } = await run(guard, { url: `http://good.test:${first}/1`, headers });
  expect(result?.hops).toEqual([
    { url: `http://good.test:${first}/1`, status: 302 },
    { url: `http://good.test:${first}/2`, status: 302 },
    { url: `http://other.test:${last}/end`, status: 200 },
  ]);
  const { headers: sent } = echoed(result?.body ?? Buffer.alloc(0));
  expect(sent).toMatchObject({ accept: 'text/html' });
  expect(JSON.stringify(sent)).not.toContain('secret');
  expect(connections.map(({ host, verdict }) => [host, verdict])).toEqual([
    ['good.test', 'allowed'],
    ['good.test', 'allowed'],
    ['other.test', 'allowed'],
  ]);
});

test('the caller may refuse to follow a redirect that the guard allows', async () => {
  const port = await servers.http((request, response) =>
    request.url === '/' ? redirectTo('/again')(request, response) : echo(request, response),
  );
  const guard = loopbackGuard([`good.test:${port}`]);
  const url = `http://good.test:${port}/`;
  const asked: string[] = [];
  const mayFollow = ({ href }: URL) => {
    asked.push(href);
    return false;
  };
  const { error, connections } = await run(guard, { url, mayFollow });
  expect(error).toMatchObject({ code: 'EREDIRECTREFUSED', message: expect.stringContaining('may not follow') });
  expect([asked, connections.length]).toEqual([[`${url}again`], 1]);
  expect((await run(guard, { url, mayFollow: () => true })).result?.status).toBe(200);
});

test('a redirect within one origin keeps secret headers', async () => {
  const port = await servers.http((request, response) =>
    request.url === '/' ? redirectTo('/again')(request, response) : echo(request, response),
  );
  const request = { url: `http://good.test:${port}/`, headers: { authorization: 'secret' } };
  const { result } = await run(loopbackGuard([`good.test:${port}`]), request);
  expect(echoed(result?.body ?? Buffer.alloc(0)).headers).toMatchObject({ authorization: 'secret' });
});

test.each([
  [301, 'POST', 'GET', ''],
  [302, 'POST', 'GET', ''],
  [303, 'PUT', 'GET', ''],
  [307, 'POST', 'POST', 'words'],
  [308, 'PUT', 'PUT', 'words'],
])('a %i after %s becomes %s', async (status, method, expected, body) => {
  const port = await servers.http((request, response) =>
    request.url === '/' ? redirectTo('/again', status)(request, response) : echo(request, response),
  );
  const request = {
    url: `http://good.test:${port}/`,
    method,
    body: 'words',
    headers: { 'content-type': 'text/plain' },
  };
  const { result } = await run(loopbackGuard([`good.test:${port}`]), request);
  const seen = echoed(result?.body ?? Buffer.alloc(0));
  expect([seen.method, seen.body, seen.headers['content-type']]).toEqual([
    expected,
    body,
    body === '' ? undefined : 'text/plain',
  ]);
});

test('a repeated POST gives another origin its body and no secret header', async () => {
  const end = await servers.http(echo);
  const port = await servers.http(redirectTo(`http://other.test:${end}/`, 307));
  const headers = { authorization: 'secret', cookie: 'a=1', 'x-api-key': 'secret', 'content-type': 'text/plain' };
  const request = { url: `http://good.test:${port}/`, method: 'post', body: Buffer.from('words'), headers };
  const { result } = await run(loopbackGuard([`good.test:${port}`, `other.test:${end}`]), request);
  const seen = echoed(result?.body ?? Buffer.alloc(0));
  expect([seen.method, seen.body, seen.headers['content-type']]).toEqual(['POST', 'words', 'text/plain']);
  expect(seen.headers).not.toHaveProperty('authorization');
  expect(seen.headers).not.toHaveProperty('cookie');
  expect(seen.headers).not.toHaveProperty('x-api-key');
  const unlisted = await run(loopbackGuard([`good.test:${port}`]), request);
  expect(unlisted.error).toMatchObject({ code: 'EREDIRECTREFUSED' });
  expect(unlisted.connections.map(({ verdict }) => verdict)).toEqual(['allowed', 'refused']);
});

test('a request body over 10 MiB is refused before any connection', async () => {
  const request = { url: 'http://good.test/', method: 'POST' };
  const large = await run(loopbackGuard(['good.test']), { ...request, body: 'é'.repeat(5 * 1024 ** 2 + 1) });
  expect(large).toMatchObject({ error: { code: 'ETOOLARGE' }, connections: [] });
  const port = await servers.http((asked, response) => {
    let bytes = 0;
    asked.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    asked.on('end', () => response.end(String(bytes)));
  });
  const url = `http://good.test:${port}/`;
  const fits = await run(loopbackGuard([`good.test:${port}`]), { ...request, url, body: Buffer.alloc(10 * 1024 ** 2) });
  expect(String(fits.result?.body)).toBe(String(10 * 1024 ** 2));
});

test('a redirect to a refused target makes no connection', async () => {
  const canary = await openCanary('127.0.0.2');
  const targets = [
    `http://127.0.0.2:${canary.port}/`,
    `http://canary.test:${canary.port}/`,
    `http://unlisted.test:${canary.port}/`,
    `http://[::ffff:127.0.0.2]:${canary.port}/`,
    `//0x7f000002:${canary.port}/`,
    'http://169.254.169.254/latest/meta-data/',
    'ftp://good.test/',
    'file:///etc/passwd',
    `http://user:secret@good.test:${canary.port}/`,
    'http://',
  ];
  let target = '';
  const port = await servers.http((request, response) => redirectTo(target)(request, response));
  const rules = [`good.test:${port}`, `canary.test:${canary.port}`];
  for (target of targets) {
    const guard = loopbackGuard(rules, { 'canary.test': ['127.0.0.2'] });
    const { error, connections } = await run(guard, { url: `http://good.test:${port}/` });
    expect([target, error?.code]).toEqual([target, 'EREDIRECTREFUSED']);
    expect(connections.filter(({ verdict }) => verdict === 'allowed')).toHaveLength(1);
  }
  expect(canary.connections()).toBe(0);
  await canary.close();
});

test('a name that becomes private between two hops is refused', async () => {
  const canary = await openCanary('127.0.0.2');
  const port = await servers.http((request, response) => redirectTo('/again')(request, response));
  const answers = [['127.0.0.1'], ['127.0.0.2'], ['127.0.0.2']];
  const guard = createGuard({
    rules: [`rebind.test:${port}`],
    allowAddresses: loopback,
    resolve: () => Promise.resolve(answers.shift() ?? []),
  });
  const { error } = await run(guard, { url: `http://rebind.test:${port}/` });
  expect(error).toMatchObject({ code: 'EREDIRECTREFUSED', message: expect.stringContaining('127.0.0.2') });
  expect(canary.connections()).toBe(0);
  await canary.close();
});

test('a redirect from https to http is refused', async () => {
  const plain = await openCanary();
  const port = await servers.https(certificate, redirectTo(`http://other.test:${plain.port}/`));
  const guard = loopbackGuard([`good.test:${port}`, `other.test:${plain.port}`]);
  const { error } = await run(guard, { url: `https://good.test:${port}/` });
  expect(error).toMatchObject({ code: 'EREDIRECTREFUSED', message: expect.stringContaining('without encryption') });
  expect(plain.connections()).toBe(0);
  await plain.close();
});

test('a redirect loop ends at the limit', async () => {
  let requests = 0;
  const port = await servers.http((request, response) => {
    requests++;
    redirectTo('/')(request, response);
  });
  const request = { url: `http://good.test:${port}/`, limits: { redirects: 3 } };
  const { error } = await run(loopbackGuard([`good.test:${port}`]), request);
  expect(error).toMatchObject({ code: 'EREDIRECTREFUSED' });
  expect(requests).toBe(4);
});

test('an error status and a missing Location are results', async () => {
  const port = await servers.http((_request, response) => response.writeHead(301).end('moved'));
  const { result } = await run(loopbackGuard([`good.test:${port}`]), { url: `http://good.test:${port}/` });
  expect([result?.status, result?.body.toString()]).toEqual([301, 'moved']);
});

test('a refused connection is reported', async () => {
  const { connections } = await run(loopbackGuard(['inside.test'], { 'inside.test': ['10.0.0.1'] }), {
    url: 'http://inside.test/',
  });
  expect(connections).toMatchObject([
    { host: 'inside.test', port: 80, verdict: 'refused', reason: 'EADDRESSREFUSED', bytes_up: 0, bytes_down: 0 },
  ]);
  expect(connections[0]).not.toHaveProperty('address');
});

// A list of URLs from other projects, when the environment names a copy: {rows: [{url, expected: 'block' | 'allow'}]}
const list = process.env.HOLDPOINT_SSRF_URLS ?? '';
test.runIf(existsSync(list))('no URL of a list of attacks reaches a server', async () => {
  const canaries = [await openCanary('127.0.0.1')];
  const port = canaries[0]?.port ?? 0;
  for (const host of ['::1', '127.0.0.2']) canaries.push(await openCanary(host, port));
  const { rows } = JSON.parse(readFileSync(list, 'utf8')) as { rows: { url: string; expected: string }[] };
  const blocked = rows.filter(({ expected }) => expected === 'block');
  expect(blocked.length).toBeGreaterThan(100);
  const redirector = await servers.http((request, response) =>
    redirectTo(decodeURIComponent(request.url?.slice(1) ?? ''))(request, response),
  );
  // rules list as much as they can, and every listed name resolves to the address that it contains
  const named = ['localhost', 'bit.ly', 'www.example.com', 'listed.test'];
  const rules = [...named, '*.nip.io'].flatMap((host) => [host, `${host}:${port}`]);
  for (const { url: template } of blocked) {
    const url = template.replace('PORT', String(port));
    const host = URL.parse(url)?.hostname.replace(/^\[|\]$/g, '') ?? '';
    const literal = /^([\d.]+)\.nip\.io$/.exec(host)?.[1] ?? (/[:]|^[\d.]+$/.test(host) ? host : '127.0.0.1');
    expect([url, classifyAddress(literal).allowed]).toEqual([url, false]);
    const guard = createGuard({ rules, resolve: () => Promise.resolve([literal]) });
    for (const tried of [url, `http://listed.test:${port}/`]) {
      const { error, connections } = await run(guard, { url: tried });
      expect([tried, error?.code]).toEqual([
        tried,
        expect.stringMatching(/^E(URLINVALID|HOSTNOTALLOWED|ADDRESSREFUSED)$/),
      ]);
      expect(connections.filter(({ verdict }) => verdict !== 'refused')).toEqual([]);
    }
    const behind = createGuard({
      rules: [...rules, `redirector.test:${redirector}`],
      allowAddresses: loopback,
      resolve: (name) => Promise.resolve([name === 'redirector.test' ? '127.0.0.1' : '127.0.0.2']),
    });
    const redirected = await run(behind, { url: `http://redirector.test:${redirector}/${encodeURIComponent(url)}` });
    expect([url, redirected.error?.code]).toEqual([url, 'EREDIRECTREFUSED']);
  }
  const decided = rows.filter(({ url, expected }) => expected === 'allow' && /^http:\/\/[\d[]/.test(url));
  for (const { url } of decided) {
    const host = URL.parse(url)?.hostname.replace(/^\[|\]$/g, '') ?? '';
    // every NAT64 prefix is refused, because only the network knows where it leads
    expect([url, classifyAddress(host).allowed]).toEqual([url, !host.startsWith('64:ff9b:')]);
  }
  expect(canaries.map((canary) => canary.connections())).toEqual([0, 0, 0]);
  await Promise.all(canaries.map((canary) => canary.close()));
});
