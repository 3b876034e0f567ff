import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { EgressProxy } from './egress-proxy.ts';
import { createGuard } from './guard.ts';
import { listen, loopback, loopbackServers, makeCertificate, openCanary, readAll } from './testing/network.ts';
import { ask, authorization, basic, talk, testProxies, token } from './testing/proxy.ts';

const servers = loopbackServers();
const proxies = testProxies();
afterEach(async () => {
  await proxies.close();
  await servers.close();
});

/** Sends bytes and reads all that comes back until the other side ends. */
const exchange = (to: number | string, text: string) => talk(to, text).closed;

function tunnel(port: number, target: string) {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; socket: Socket }>();
  const headers = { 'proxy-authorization': authorization };
  const asking = httpRequest({ port, host: '127.0.0.1', method: 'CONNECT', path: target, headers, agent: false });
  asking.once('connect', (answer: IncomingMessage, socket: Socket) => {
    socket.on('error', () => {});
    resolve({ status: answer.statusCode ?? 0, socket });
  });
  asking.once('error', reject);
  asking.end();
  return promise;
}

test('CONNECT reaches a listed TLS server and is reported when it ends', async () => {
  const certificate = makeCertificate(['good.test']);
  const target = await servers.start(
    createTlsServer(certificate, (socket) => socket.on('error', () => {}).end(`hello ${socket.servername}`)),
  );
  const { port, connections } = await proxies.open([`good.test:${target}`]);
  const { status, socket } = await tunnel(port, `good.test:${target}`);
  expect([status, connections]).toEqual([200, []]);
  const tls = connectTls({ socket, servername: 'good.test', ca: certificate.cert });
  expect(await readAll(tls)).toBe('hello good.test');
  await expect.poll(() => connections).toHaveLength(1);
  expect(connections[0]).toMatchObject({
    host: 'good.test',
    port: target,
    address: '127.0.0.1',
    verdict: 'allowed',
    reason: undefined,
  });
  expect(connections[0]?.bytes_up).toBeGreaterThan(100);
  expect(connections[0]?.bytes_down).toBeGreaterThan(100);
});

test.each([
  ['no token', []],
  ['a wrong token', [`Proxy-Authorization: ${basic(`holdpoint:${token}x`)}`]],
  ['a token without a user', [`Proxy-Authorization: ${basic(token)}`]],
  ['an empty token', [`Proxy-Authorization: ${basic('holdpoint:')}`]],
  ['another scheme', [`Proxy-Authorization: Bearer ${token}`]],
  ['a header for the server', [`Authorization: ${authorization}`]],
])('%s gets 407', async (_name, headers) => {
  const canary = await openCanary();
  const { port, connections } = await proxies.open([`good.test:${canary.port}`]);
  for (const line of [`CONNECT good.test:${canary.port} HTTP/1.1`, `GET http://good.test:${canary.port}/ HTTP/1.1`]) {
    const answer = await exchange(port, ask(line, headers));
    expect(answer).toMatch(/^HTTP\/1\.1 407 .*\r\nProxy-Authenticate: Basic realm="holdpoint"\r\n/);
  }
  await expect.poll(() => connections).toHaveLength(2);
  expect(connections).toMatchObject(
    [1, 2].map(() => ({ host: 'good.test', verdict: 'refused', reason: 'EPROXYAUTH' })),
  );
  expect(canary.connections()).toBe(0);
  await canary.close();
});

test('names what it refused, each place once and few of many', async () => {
  const { proxy, port } = await proxies.open(['dead.test:1']);
  for (const host of [
    'a.test:1',
    'a.test:1',
    'dead.test:1',
    'b.test:1',
    'c.test:1',
    'd.test:1',
    'e.test:1',
    'f.test:1',
  ]) {
    await exchange(port, ask(`CONNECT ${host} HTTP/1.1`));
  }
  expect(proxy.refusals).toEqual([
    expect.stringMatching(/^refused a\.test:1: a\.test:1 is not on .* network\.allow .*prepare\.network\.allow/),
    expect.stringMatching(/^could not reach dead\.test:1: /),
    ...['b', 'c', 'd'].map((name) => expect.stringContaining(`refused ${name}.test:1: `)),
    'refused 2 more connections',
  ]);
});

test('a refused target gets 403, one line, and no connection', async () => {
  const canary = await openCanary();
  const other = await openCanary('127.0.0.2', canary.port);
  const resolve = (host: string) => Promise.resolve(host === 'mixed.test' ? ['127.0.0.1', '127.0.0.2'] : ['127.0.0.2']);
  const rules = ['inside.test', 'mixed.test'].map((host) => `${host}:${canary.port}`);
  const { port, connections } = await proxies.open([], {
    guard: createGuard({ rules, allowAddresses: loopback, resolve }),
  });
  const refused: [string, string][] = [
    ['unlisted.test', 'EHOSTNOTALLOWED'],
    ['127.0.0.1', 'EHOSTNOTALLOWED'],
    ['2130706433', 'EHOSTNOTALLOWED'],
    ['0x7f.1', 'EHOSTNOTALLOWED'],
    ['[::1]', 'EHOSTNOTALLOWED'],
    ['[::ffff:127.0.0.1]', 'EHOSTNOTALLOWED'],
    ['inside.test', 'EADDRESSREFUSED'],
    ['INSIDE.test.', 'EADDRESSREFUSED'],
    ['mixed.test', 'EADDRESSREFUSED'],
  ];
  for (const [host, code] of refused) {
    for (const line of [`CONNECT ${host}:${canary.port}`, `GET http://${host}:${canary.port}/`]) {
      const answer = await exchange(port, ask(`${line} HTTP/1.1`));
      expect([line, answer]).toEqual([
        line,
        expect.stringMatching(new RegExp(`^HTTP/1.1 403 [\\s\\S]*\r\n\r\n${code}: [^\n]+\n$`)),
      ]);
    }
  }
  await expect.poll(() => connections).toHaveLength(refused.length * 2);
  expect(connections.every(({ verdict, address }) => verdict === 'refused' && address === undefined)).toBe(true);
  expect(connections.at(-3)).toMatchObject({ host: 'inside.test', port: canary.port, reason: 'EADDRESSREFUSED' });
  expect(connections.at(-3)?.detail).toContain('127.0.0.2, which is refused: loopback');
  expect(connections.at(-3)?.detail).toContain('add 127.0.0.2 to HOLDPOINT_ALLOW_ADDRESSES');
  expect([canary.connections(), other.connections()]).toEqual([0, 0]);
  await Promise.all([canary.close(), other.close()]);
});

test('without rules every target gets 403', async () => {
  const { port } = await proxies.open([], { guard: createGuard({ rules: [] }) });
  expect(await exchange(port, ask('CONNECT good.test:443 HTTP/1.1'))).toMatch(/^HTTP\/1\.1 403 [\s\S]*ENETWORKOFF/);
});

test.each([
  'CONNECT good.test HTTP/1.1',
  'CONNECT good.test:0 HTTP/1.1',
  'CONNECT good.test:65536 HTTP/1.1',
  'CONNECT http://good.test:443/ HTTP/1.1',
  'GET / HTTP/1.1',
  'GET https://good.test/ HTTP/1.1',
  'GET ftp://good.test/ HTTP/1.1',
  'GET http://user:secret@good.test/ HTTP/1.1',
  'not a request',
])('%s gets 400', async (line) => {
  const { port, connections } = await proxies.open(['good.test']);
  expect(await exchange(port, ask(line))).toMatch(/^HTTP\/1\.1 400 /);
  await expect.poll(() => connections).toHaveLength(1);
  expect(connections[0]).toMatchObject({ verdict: 'refused', reason: 'EPROXYREQUEST' });
});

test('a name that does not resolve or answer gets 502', async () => {
  const gone = await openCanary();
  await gone.close();
  const resolve = (host: string) =>
    host === 'gone.test' ? Promise.resolve(['127.0.0.1']) : Promise.reject(new Error('no'));
  const rules = [`gone.test:${gone.port}`, 'missing.test'];
  const { port, connections } = await proxies.open([], {
    guard: createGuard({ rules, allowAddresses: loopback, resolve }),
  });
  expect(await exchange(port, ask(`CONNECT gone.test:${gone.port} HTTP/1.1`))).toMatch(
    /^HTTP\/1\.1 502 [\s\S]*ENETWORK/,
  );
  expect(await exchange(port, ask('CONNECT missing.test:443 HTTP/1.1'))).toMatch(/^HTTP\/1\.1 502 [\s\S]*ENETWORK/);
  await expect.poll(() => connections.map(({ verdict }) => verdict)).toEqual(['failed', 'failed']);
});

test('a plain request is forwarded without the headers for the proxy', async () => {
  const seen: { method?: string | undefined; url?: string | undefined; headers: string[]; body: string }[] = [];
  const target = await servers.http((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      seen.push({ method: request.method, url: request.url, headers: request.rawHeaders, body });
      response.writeHead(201, 'Made', [...['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2'], ...['Keep-Alive', 'timeout=5']]);
      response.end('answer');
    });
  });
  const { port, connections } = await proxies.open([`good.test:${target}`]);
  const request = [
    `POST http://GOOD.test:${target}/path?q=1 HTTP/1.1`,
    ...['Host: internal.test', `Proxy-Authorization: ${authorization}`, 'Proxy-Connection: keep-alive'],
    ...['Connection: X-Named', 'X-Named: drop', 'X-Kept: yes', 'Authorization: mine', 'Content-Length: 5', '', 'words'],
  ].join('\r\n');
  const answer = await exchange(port, request);
  expect(answer).toMatch(/^HTTP\/1\.1 201 Made\r\n[\s\S]*\r\n\r\n6\r\nanswer\r\n0\r\n\r\n$/);
  expect(answer).toContain('Set-Cookie: a=1\r\nSet-Cookie: b=2\r\n');
  expect(answer).not.toMatch(/keep-alive: timeout/i);
  expect(seen).toHaveLength(1);
  expect(seen[0]).toMatchObject({ method: 'POST', url: '/path?q=1', body: 'words' });
  const headers = seen[0]?.headers.join('\n').toLowerCase() ?? '';
  expect(headers).toContain(`host\ngood.test:${target}`);
  expect(headers).toMatch(/x-kept\nyes[\s\S]*authorization\nmine/);
  for (const word of ['internal.test', 'proxy-', 'drop', token]) expect(headers).not.toContain(word);
  await expect
    .poll(() => connections)
    .toMatchObject([{ host: 'good.test', port: target, verdict: 'allowed', reason: undefined }]);
});

test('a chunked body is forwarded whole', async () => {
  const target = await servers.http((request, response) => request.pipe(response));
  const { port } = await proxies.open([`good.test:${target}`]);
  const headers = [`Proxy-Authorization: ${authorization}`, 'Transfer-Encoding: chunked'];
  const answer = await exchange(
    port,
    `${ask(`DELETE http://good.test:${target}/ HTTP/1.1`, headers)}5\r\nwords\r\n3\r\n, 2\r\n0\r\n\r\n`,
  );
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*words[\s\S]*, 2/);
});

test('an upgrade request is forwarded as an ordinary one', async () => {
  const target = await servers.http((request, response) => response.end(`upgrade: ${request.headers.upgrade}`));
  const { port } = await proxies.open([`good.test:${target}`]);
  const headers = [`Proxy-Authorization: ${authorization}`, 'Connection: Upgrade', 'Upgrade: websocket'];
  const answer = await exchange(port, ask(`GET http://good.test:${target}/ HTTP/1.1`, headers));
  expect(answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*upgrade: undefined/);
});

test('a second request on one connection gets no answer', async () => {
  const answered = Promise.withResolvers<void>();
  const target = await servers.http((_request, response) => void answered.promise.then(() => response.end('first')));
  const canary = await openCanary();
  const { port } = await proxies.open([`good.test:${target}`, `second.test:${canary.port}`]);
  const first = ask(`GET http://good.test:${target}/ HTTP/1.1`);
  const { closed } = talk(
    port,
    first + ask(`GET http://second.test:${canary.port}/ HTTP/1.1`) + ask('GET http://unlisted.test/ HTTP/1.1'),
  );
  // a later request on its own connection gets its answer earlier
  expect(await exchange(port, ask('GET http://unlisted.test/ HTTP/1.1'))).toMatch(/^HTTP\/1\.1 403 /);
  answered.resolve();
  expect(await closed).toMatch(/^HTTP\/1\.1 200 (?:(?!HTTP)[\s\S])*\r\n\r\nfirst$/);
  expect(canary.connections()).toBe(0);
  await canary.close();
});

test('bytes right after CONNECT arrive, and each side can end first', async () => {
  const target = await servers.tcp(
    (socket) => {
      let received = '';
      socket.setEncoding('utf8').on('data', (chunk: string) => {
        received += chunk;
      });
      socket.on('end', () => socket.end(`got ${received}`));
    },
    { allowHalfOpen: true },
  );
  const { port, connections } = await proxies.open([`good.test:${target}`]);
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.end(`${ask(`CONNECT good.test:${target} HTTP/1.1`)}early words`);
  expect(await readAll(socket)).toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\n\r\ngot early words$/);
  await expect
    .poll(() => connections)
    .toMatchObject([{ verdict: 'allowed', reason: undefined, bytes_up: 11, bytes_down: 15 }]);
});

test('5 MiB pass in both directions and are counted', async () => {
  const bytes = 5 * 1024 * 1024;
  const target = await servers.tcp((socket) => socket.pipe(socket), { allowHalfOpen: true });
  const { port, connections } = await proxies.open([`good.test:${target}`]);
  const { socket } = await tunnel(port, `good.test:${target}`);
  let received = 0;
  socket.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received === bytes) socket.end();
  });
  socket.write(Buffer.alloc(bytes, 'x'));
  await new Promise((resolve) => socket.once('close', resolve));
  await expect.poll(() => connections).toMatchObject([{ bytes_up: bytes, bytes_down: bytes }]);
});

test('a unix socket in a private directory is served', async () => {
  const target = await servers.http((_request, response) => response.end('over a unix socket'));
  const { proxy } = await proxies.open([`good.test:${target}`]);
  const directory = mkdtempSync(join(tmpdir(), 'holdpoint-proxy-'));
  chmodSync(directory, 0o700);
  const path = join(directory, 'proxy.sock');
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const release = proxy.serve(server);
  expect(statSync(path).isSocket()).toBe(true);
  expect(await exchange(path, ask(`GET http://good.test:${target}/ HTTP/1.1`))).toContain('over a unix socket');
  release();
  rmSync(directory, { recursive: true });
});

test('closing the proxy ends and reports every tunnel', async () => {
  const target = await servers.tcp(() => {});
  const { proxy, port, connections } = await proxies.open([`good.test:${target}`]);
  const tunnels = await Promise.all([1, 2, 3].map(() => tunnel(port, `good.test:${target}`)));
  const ended = tunnels.map(({ socket }) => new Promise((resolve) => socket.once('close', resolve)));
  for (const { socket } of tunnels) socket.resume();
  await proxy[Symbol.asyncDispose]();
  expect(connections).toMatchObject([1, 2, 3].map(() => ({ verdict: 'allowed', reason: 'EABORTED' })));
  await Promise.all(ended);
  await expect(tunnel(port, `good.test:${target}`)).rejects.toThrow();
});

test('releasing one server leaves the others open', async () => {
  const target = await servers.tcp((socket) => socket.pipe(socket));
  const { proxy, port, release } = await proxies.open([`good.test:${target}`]);
  const second = createServer();
  const secondPort = await listen(second);
  proxy.serve(second);
  const [mine, others] = await Promise.all([port, secondPort].map((at) => tunnel(at, `good.test:${target}`)));
  const ended = new Promise((resolve) => mine?.socket.once('close', resolve).resume());
  release();
  await ended;
  others?.socket.write('still here');
  const echoed = await new Promise((resolve) =>
    others?.socket.once('data', (chunk: Buffer) => resolve(chunk.toString())),
  );
  expect(echoed).toBe('still here');
});

test('the environment has the token and no NO_PROXY exception', async () => {
  const { proxy } = await proxies.open([]);
  const url = `http://holdpoint:${token}@127.0.0.1:3128`;
  expect(proxy.environment(3128)).toEqual({
    ...{ HTTP_PROXY: url, HTTPS_PROXY: url, http_proxy: url, https_proxy: url },
    ...{ NO_PROXY: '', no_proxy: '', NODE_USE_ENV_PROXY: '1' },
  });
});

test.each(['', 'short', `${'x'.repeat(40)}@`, `${'x'.repeat(40)}:`])('the token %j is invalid', (token) => {
  expect(() => new EgressProxy({ guard: createGuard({ rules: [] }), token, onConnection: () => {} })).toThrow(
    expect.objectContaining({ code: 'ERULEINVALID' }),
  );
});
