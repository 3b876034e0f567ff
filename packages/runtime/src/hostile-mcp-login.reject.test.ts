import { afterAll, expect, test } from 'vitest';
import { openLoginHost, removeLoginHosts } from './testing/login-host.ts';
import { type Authority, json, type ProtectedServer, useServers } from './testing/oauth-servers.ts';

afterAll(removeLoginHosts);
const { serve, serveAuthority, serveMcp } = useServers();

/** An honest authorization server, an honest server behind it and a host. */
async function honest(settings?: Parameters<typeof openLoginHost>[0]) {
  const authority = await serveAuthority();
  const server = await serveMcp(authority);
  return { authority, server, host: openLoginHost(settings) };
}

const loggedIn = { status: 'succeeded', value: { content: [{ type: 'text', text: 'done' }] } };

test('an honest login: the code is bound to its verifier and to the resource, and the token goes to its server alone', async () => {
  const { authority, server, host } = await honest();
  const login = await host.logIn(server.url, authority.browse);
  expect(login).toMatchObject({ issuer: authority.origin, resource: server.url, client_id: 'registered-by-itself' });
  expect(await host.call(server.url)).toEqual(loggedIn);
  const asked = authority.heard.find(({ path }) => path === '/token');
  expect(asked?.body).toMatchObject({
    grant_type: 'authorization_code',
    resource: server.url,
    client_id: 'registered-by-itself',
  });
  const registration = authority.heard.find(({ path }) => path === '/register');
  expect(JSON.parse(registration?.body.text ?? '')).toMatchObject({
    token_endpoint_auth_method: 'none',
    application_type: 'native',
  });
  // Another tenant has no part in it.
  expect(await host.call(server.url, { tenant: 'other' })).toMatchObject({ error: { code: 'EMCPLOGIN' } });
});

test.each<[string, (at: { authority: Authority; server: ProtectedServer }) => unknown, string]>([
  [
    'an answer of another issuer',
    ({ authority }) => Object.assign(authority.redirect, { iss: 'https://evil.example' }),
    'not from',
  ],
  [
    'an answer without the promised issuer',
    ({ authority }) => Object.assign(authority.redirect, { iss: null }),
    'unnamed issuer',
  ],
  [
    'an error in an answer',
    ({ authority }) => Object.assign(authority.redirect, { code: null, error: 'access_denied' }),
    'access_denied',
  ],
  [
    'no PKCE',
    ({ authority }) => Object.assign(authority.metadata, { code_challenge_methods_supported: ['plain'] }),
    'PKCE',
  ],
  [
    'no word of PKCE',
    ({ authority }) => Object.assign(authority.metadata, { code_challenge_methods_supported: undefined }),
    'PKCE',
  ],
  [
    'a description of another issuer',
    ({ authority }) => Object.assign(authority.metadata, { issuer: 'https://evil.example' }),
    'another issuer',
  ],
  [
    'a token endpoint without encryption',
    ({ authority }) => Object.assign(authority.metadata, { token_endpoint: 'http://evil.example/token' }),
    'no https address',
  ],
  [
    'a page for the login without encryption',
    ({ authority }) => Object.assign(authority.metadata, { authorization_endpoint: 'http://evil.example/' }),
    'no https address',
  ],
  [
    'another resource',
    ({ server }) => Object.assign(server.metadata, { resource: 'https://other.example/mcp' }),
    'another resource',
  ],
  [
    'a resource beside its path',
    ({ server }) => Object.assign(server.metadata, { resource: `${server.origin}/mc` }),
    'another resource',
  ],
  [
    'no authorization server',
    ({ server }) => Object.assign(server.metadata, { authorization_servers: [] }),
    'names no authorization server',
  ],
  [
    'an authorization server without encryption',
    ({ server }) => Object.assign(server.metadata, { authorization_servers: ['http://evil.example'] }),
    'no https address',
  ],
  [
    'an address that no browser opens',
    ({ authority }) => Object.assign(authority.metadata, { authorization_endpoint: 'javascript:alert(1)' }),
    'does not describe',
  ],
  [
    'tokens of another kind',
    ({ authority }) =>
      Object.assign(authority.instead, { '/token': answering({ access_token: 'a'.repeat(40), token_type: 'DPoP' }) }),
    'no bearer tokens',
  ],
  [
    'a token that is a word',
    ({ authority }) =>
      Object.assign(authority.instead, { '/token': answering({ access_token: 'word', token_type: 'bearer' }) }),
    'fewer than 16',
  ],
  [
    'a token with a line end',
    ({ authority }) =>
      Object.assign(authority.instead, {
        '/token': answering({ access_token: `${'a'.repeat(40)}\r\nx: y`, token_type: 'bearer' }),
      }),
    'no header can carry',
  ],
])('%s ends a login, and nothing is kept', async (_, change, message) => {
  const { authority, server, host } = await honest();
  change({ authority, server });
  const error = await host.logIn(server.url, authority.browse).catch((caught: unknown) => caught);
  expect(error).toMatchObject({ code: 'EMCPAUTH', message: expect.stringContaining(message) });
  expect(host.secrets.logins.list('default')).toEqual([]);
  if (!('/token' in authority.instead)) expect(authority.count('/token')).toBe(0);
});

const answering =
  (value: object): NonNullable<Authority['instead'][string]> =>
  (_, response) =>
    json(response, value);

test('an answer with another state counts for nothing, and the wait is bounded', async () => {
  const { authority, server, host } = await honest();
  const notes: string[] = [];
  const replayed = Promise.withResolvers<void>();
  authority.instead['/token'] = async (_, response) => {
    await replayed.promise;
    json(response, { access_token: 'a'.repeat(40), token_type: 'bearer' });
  };
  const login = host.logIn(
    server.url,
    async (address) => {
      const back = new URL(address.searchParams.get('redirect_uri') ?? '');
      const strange = async (query: string, init?: RequestInit) => (await fetch(`${back}?${query}`, init)).status;
      expect(await strange('code=evil&state=guessed')).toBe(400);
      expect(await strange('code=evil')).toBe(400);
      expect(await strange(`code=a&code=b&state=${address.searchParams.get('state')}`)).toBe(404);
      expect(await strange(`code=a&state=${address.searchParams.get('state')}`, { method: 'POST' })).toBe(404);
      expect((await fetch(new URL('/other', back))).status).toBe(404);
      expect(await authority.browse(address)).toEqual({ status: 200 });
      // The answer counts once.
      expect(await authority.browse(address)).toEqual({ status: 404 });
      replayed.resolve();
    },
    { notes },
  );
  expect(await login).toMatchObject({ issuer: authority.origin });
  expect(notes).toHaveLength(2);
  expect(authority.count('/token')).toBe(1);
  const late = await host.logIn(server.url, () => undefined, { waitMs: 50 }).catch((caught: unknown) => caught);
  expect(late).toMatchObject({ code: 'EMCPLOGIN', message: expect.stringContaining('No browser came back') });
});

test('no request with credentials follows a redirect', async () => {
  const { authority, server, host } = await honest();
  const thief = await serve((_, response) => response.end());
  authority.instead['/token'] = (_, response) => response.writeHead(307, { location: `${thief.origin}/token` }).end();
  await expect(host.logIn(server.url, authority.browse)).rejects.toMatchObject({ code: 'EREDIRECTREFUSED' });
  authority.instead['/token'] = (_, response) => response.writeHead(307, { location: '/elsewhere' }).end();
  await expect(host.logIn(server.url, authority.browse)).rejects.toMatchObject({ code: 'EREDIRECTREFUSED' });
  expect(authority.count('/elsewhere')).toBe(0);
  authority.instead = {};
  await host.logIn(server.url, authority.browse);
  server.instead = (_, response) => response.writeHead(307, { location: `${thief.origin}/mcp` }).end();
  expect(await host.call(server.url)).toMatchObject({ error: { code: 'EREDIRECTREFUSED' } });
  expect(thief.heard).toEqual([]);
});

test('addresses that are not public are not asked, by any description', async () => {
  const inner = await serve((_, response) => json(response, {}), '127.0.0.2');
  const named = inner.origin;
  const attempts: ((at: { authority: Authority; server: ProtectedServer }) => unknown)[] = [
    ({ server }) => Object.assign(server.metadata, { authorization_servers: [named] }),
    ({ server }) => Object.assign(server, { instead: challenge(`${named}/metadata`) }),
    ({ authority }) => Object.assign(authority.metadata, { token_endpoint: `${named}/token` }),
    ({ authority }) => Object.assign(authority.metadata, { registration_endpoint: `${named}/register` }),
  ];
  for (const attempt of attempts) {
    const { authority, server, host } = await honest();
    attempt({ authority, server });
    await expect(host.logIn(server.url, authority.browse)).rejects.toMatchObject({
      message: expect.stringContaining('127.0.0.2'),
    });
  }
  expect(inner.heard).toEqual([]);
});

const challenge =
  (metadata: string): NonNullable<ProtectedServer['instead']> =>
  (_, response) =>
    response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${metadata}"` }).end();

test('a description of 1 GB is left after 64 KiB, and one that comes byte by byte after its time', async () => {
  const { authority, server, host } = await honest();
  let written = 0;
  const chunk = Buffer.alloc(64 * 1024, ' ');
  authority.instead['/.well-known/oauth-authorization-server'] = async (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const gone = new Promise<void>((resolve) => response.once('close', resolve));
    for (; written < 1024 ** 3 && !response.destroyed; written += chunk.length) {
      if (!response.write(chunk)) await Promise.race([gone, new Promise((resolve) => response.once('drain', resolve))]);
    }
  };
  const large = await host.logIn(server.url, authority.browse).catch((caught: unknown) => caught);
  expect(large).toMatchObject({ code: 'EMCPAUTH', message: expect.stringContaining('64 KiB') });
  expect(written).toBeLessThan(64 * 1024 ** 2);

  authority.instead['/.well-known/oauth-authorization-server'] = (_, response) =>
    void response.writeHead(200).write('{');
  host.onSend = (request) => {
    expect(request.timeout_ms).toBeLessThanOrEqual(15_000);
    return { ...request, timeout_ms: 200 };
  };
  await expect(host.logIn(server.url, authority.browse)).rejects.toMatchObject({ code: 'ETIMEOUT' });
});

test('the secret of a client goes to its own issuer alone, whatever a server names', async () => {
  const { authority, server, host } = await honest();
  const oauth = {
    grant: 'client_credentials',
    client_id: 'machine',
    client_secret: 'CLIENT_SECRET',
    issuer: authority.origin,
  };
  expect(await host.call(server.url, { oauth })).toEqual(loggedIn);
  expect(JSON.stringify(authority.heard)).toContain(
    Buffer.from('machine:canary-secret-of-the-client').toString('base64'),
  );
  const thief = await serveAuthority();
  const trap = await serveMcp(thief);
  for (const caller of [host, openLoginHost()]) {
    expect(await caller.call(trap.url, { oauth })).toMatchObject({
      status: 'failed',
      error: { code: expect.stringMatching(/EMCPAUTH|EMCPLOGIN/) },
    });
  }
  expect(thief.heard).toEqual([]);
});

test('a client is chosen in order: registered by hand, by its document, by itself', async () => {
  const { authority, server, host } = await honest();
  const document = 'https://holdpoint.example/client.json';
  const clientFor = async (oauth: object) => (await host.logIn(server.url, authority.browse, { oauth })).client_id;
  expect(await clientFor({ client_id: 'by-hand', client_metadata_url: document })).toBe('by-hand');
  expect(await clientFor({ client_metadata_url: document })).toBe('registered-by-itself');
  authority.metadata.client_id_metadata_document_supported = true;
  expect(await clientFor({ client_metadata_url: document })).toBe(document);
  authority.metadata.registration_endpoint = undefined;
  expect(await host.logIn(server.url, authority.browse).catch((caught: unknown) => caught)).toMatchObject({
    code: 'EMCPAUTH',
    next: expect.stringMatching(/redirect http:\/\/127\.0\.0\.1:\d+\/callback .*client_id/),
  });
});

test('without a key for the store, no request leaves', async () => {
  const { authority, server, host } = await honest({ key: '' });
  await expect(host.logIn(server.url, authority.browse)).rejects.toMatchObject({ code: 'ESECRETSTOREOFF' });
  expect(server.heard).toEqual([]);
});
