import { request as httpRequest } from 'node:http';
import { connect as connectPlain } from 'node:net';
import { connect as connectTls, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, beforeAll, expect, test } from 'vitest';
import type { CertificateAuthority } from './certificate-authority.ts';
import { createAuthority } from './create-authority.ts';
import { openGuardedFetch } from './guarded-fetch.ts';
import { type InjectedHeader, openInjectedHeaders } from './send-request.ts';
import { loopbackGuard, loopbackServers, makeCertificate, readAll, recorder } from './testing/network.ts';
import { ask, authorization, talk, testProxies } from './testing/proxy.ts';

const certificate = makeCertificate(['api.test', 'other.test']);
setDefaultCACertificates([...getCACertificates('default'), certificate.cert]);

const servers = loopbackServers();
const proxies = testProxies();
let authority: CertificateAuthority;
beforeAll(async () => {
  authority = await createAuthority();
});
afterEach(async () => {
  await proxies.close();
  await servers.close();
});

interface Seen {
  host: string | undefined;
  path: string | undefined;
  token: string[];
}

const header = (host: string, more: Partial<InjectedHeader> = {}): InjectedHeader => ({
  ...{ host, name: 'X-Token', plainHttp: false, value: () => 'Bearer the-secret', ...more },
});

async function site(kind: 'http' | 'https') {
  const seen: Seen[] = [];
  const answer: Parameters<typeof servers.http>[0] = ({ headers, url, rawHeaders }, response) => {
    const token = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === 'x-token');
    seen.push({ host: headers.host, path: url, token });
    response.end('answered');
  };
  const port = await (kind === 'http' ? servers.http(answer) : servers.https(certificate, answer));
  return { port, seen };
}

const withHeaders = (rules: readonly string[], headers: readonly InjectedHeader[]) =>
  proxies.open(rules, { injected: { headers: openInjectedHeaders(headers), authority } });

/** CONNECT, TLS with the run's certificates, and a request as text. Resolves to the answer. */
async function through(
  proxyPort: number,
  target: string,
  text: string,
  ca: string = authority.bundle,
): Promise<string> {
  const socket = connectPlain(proxyPort, '127.0.0.1');
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\nProxy-Authorization: ${authorization}\r\n\r\n`);
  const established = await new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(chunk.toString())));
  if (!established.includes(' 200 ')) return established;
  const secure = connectTls({ socket, servername: target.split(':')[0] ?? '', ca });
  const failed = new Promise<string>((resolve) => secure.once('error', ({ message }) => resolve(message)));
  secure.write(text);
  return Promise.race([readAll(secure), failed]);
}

const ownCertificate = () => authority.bundle.slice(authority.bundle.lastIndexOf('-----BEGIN'));

const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: evil.test\r\n${headers}\r\n`;

test('adds the header over TLS to its host alone, in place of one that the client sets', async () => {
  const { port, seen } = await site('https');
  const { port: proxy, connections } = await withHeaders(
    [`api.test:${port}`, `other.test:${port}`],
    [header(`api.test:${port}`)],
  );
  const answer = await through(
    proxy,
    `api.test:${port}`,
    get('/a?b=1', 'X-TOKEN: mine\r\nx-token: again\r\nConnection: x-token\r\n'),
  );
  expect(answer).toMatch(/^HTTP\/1.1 200 OK[\s\S]*answered/);
  expect(seen).toEqual([{ host: `api.test:${port}`, path: '/a?b=1', token: ['Bearer the-secret'] }]);
  expect(await through(proxy, `other.test:${port}`, get('/b', 'connection: close\r\n'), certificate.cert)).toContain(
    'answered',
  );
  expect(seen[1]).toEqual({ host: 'evil.test', path: '/b', token: [] });
  // A tunnel that is not opened shows the host's own certificate.
  expect(await through(proxy, `other.test:${port}`, get('/c'), ownCertificate())).toMatch(/self.signed/);
  await proxies.close();
  expect(connections.map(({ verdict }) => verdict)).toEqual(['allowed', 'allowed', 'allowed']);
});

test('refuses a host that is not listed, and one whose certificate is wrong', async () => {
  const { port, seen } = await site('https');
  const { port: proxy } = await withHeaders(
    [`wrong.test:${port}`],
    [header(`api.test:${port}`), header(`wrong.test:${port}`)],
  );
  expect(await through(proxy, `api.test:${port}`, get('/'))).toContain('403');
  expect(await through(proxy, `wrong.test:${port}`, get('/'))).toMatch(/^HTTP\/1.1 502[\s\S]*secure connection/);
  expect(seen).toEqual([]);
});

test('reads one request per connection, in origin form', async () => {
  const { port, seen } = await site('https');
  const { port: proxy } = await withHeaders([`api.test:${port}`], [header(`api.test:${port}`)]);
  await through(proxy, `api.test:${port}`, get('/one') + get('/two'));
  expect(await through(proxy, `api.test:${port}`, get('http://evil.test/'))).toContain('400');
  expect(seen.map(({ path }) => path)).toEqual(['/one']);
});

test('sends it over plain HTTP only when that is asked for', async () => {
  const { port, seen } = await site('http');
  for (const plainHttp of [false, true]) {
    const { port: proxy } = await withHeaders([`api.test:${port}`], [header(`api.test:${port}`, { plainHttp })]);
    expect(await talk(proxy, ask(`GET http://api.test:${port}/ HTTP/1.1`)).closed).toContain('answered');
  }
  expect(seen.map(({ token }) => token)).toEqual([[], ['Bearer the-secret']]);
});

test('a request whose secret is gone is not sent', async () => {
  const { port, seen } = await site('http');
  const gone = header(`api.test:${port}`, {
    plainHttp: true,
    value: () => {
      throw new Error('gone');
    },
  });
  const { port: proxy, connections } = await withHeaders([`api.test:${port}`], [gone]);
  const asked = httpRequest({
    port: proxy,
    path: `http://api.test:${port}/`,
    headers: { 'proxy-authorization': authorization },
  });
  await expect(
    new Promise((resolve, reject) => asked.once('response', resolve).once('error', reject).end()),
  ).rejects.toThrow();
  expect(seen).toEqual([]);
  expect(connections).toMatchObject([{ reason: 'ESECRET' }]);
});

test('a fetch has the header at its host and not after a redirect', async () => {
  const seen: (string | undefined)[] = [];
  const port = await servers.https(certificate, ({ headers, url }, response) => {
    seen.push(`${url} ${headers['x-token']}`);
    if (url === '/from') response.writeHead(302, { location: `https://other.test:${port}/to` }).end();
    else response.end('there');
  });
  const guard = loopbackGuard([`api.test:${port}`, `other.test:${port}`]);
  const headers = openInjectedHeaders([header(`api.test:${port}`)]);
  await using web = openGuardedFetch({ guard, headers, onConnection: recorder().onConnection });
  const signal = AbortSignal.timeout(60_000);
  await web.fetch({ url: `https://api.test:${port}/from`, headers: { 'X-Token': 'mine' }, signal });
  expect(seen).toEqual(['/from Bearer the-secret', '/to undefined']);
});
