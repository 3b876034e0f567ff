import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { openLoginHost, removeLoginHosts } from './testing/login-host.ts';
import { json, useServers } from './testing/oauth-servers.ts';

afterAll(removeLoginHosts);
const { serveAuthority, serveMcp } = useServers();

/** A host that is logged in at a server. */
async function loggedIn() {
  const authority = await serveAuthority();
  const server = await serveMcp(authority);
  const host = openLoginHost();
  const login = await host.logIn(server.url, authority.browse);
  const refreshes = () => authority.heard.filter(({ body }) => body.grant_type === 'refresh_token').length;
  return { authority, server, host, login, refreshes };
}

const program = fileURLToPath(import.meta.resolve('./testing/call-with-login.ts'));
const hour = 3_600_000;
const done = { status: 'succeeded', value: { content: [{ type: 'text', text: 'done' }] } };
const nextLogin = expect.stringContaining('holdpoint mcp login own');

test('a token is renewed before its end, and once after a refusal', async () => {
  const { authority, server, host, refreshes } = await loggedIn();
  host.ahead = 3_580_000;
  expect(await host.call(server.url)).toEqual(done);
  expect(refreshes()).toBe(1);
  authority.valid.clear();
  expect(await host.call(server.url)).toEqual(done);
  expect(refreshes()).toBe(2);
  // A server that refuses every token is asked twice, and the authorization server once.
  server.instead = (_, response) => response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
  const before = server.count('/mcp');
  expect(await host.call(server.url)).toMatchObject({
    status: 'failed',
    error: { code: 'EMCPLOGIN', next: nextLogin },
  });
  expect([server.count('/mcp') - before, refreshes()]).toEqual([2, 3]);
});

test('processes that renew a rotating token at the same moment ask once, and every call has its result', async () => {
  const { server, host, refreshes } = await loggedIn();
  const processes = Array.from({ length: 4 }, () =>
    spawn(process.execPath, [program, server.url, host.dataDir, host.key, String(hour)]),
  );
  await Promise.all(processes.map((child) => once(child.stdout, 'data')));
  const outcomes = processes.map((child) => text(child.stdout));
  for (const child of processes) child.stdin.end();
  for (const outcome of outcomes) expect(JSON.parse(await outcome)).toEqual(done);
  expect(refreshes()).toBe(1);
});

test('a call that is cancelled while its token is renewed: the renewal ends, and its result is kept', async () => {
  const { authority, server, host, refreshes } = await loggedIn();
  host.ahead = hour;
  const controller = new AbortController();
  const tokens = { access_token: `access-${'1'.repeat(40)}`, refresh_token: `refresh-${'1'.repeat(40)}` };
  authority.instead['/token'] = async (_, response) => {
    controller.abort(new Error('cancelled'));
    await cancelled;
    json(response, { ...tokens, token_type: 'Bearer', expires_in: 3600 });
  };
  const cancelled = host.call(server.url, { signal: controller.signal }).catch((error: Error) => error.message);
  expect(await cancelled).toBe('cancelled');
  authority.valid.add(tokens.access_token);
  expect(await host.call(server.url)).toEqual(done);
  expect(server.heard.at(-1)?.authorization).toBe(`Bearer ${tokens.access_token}`);
  expect(refreshes()).toBe(1);
});

test('a call that needs more rights fails with the scopes that it needs', async () => {
  const { server, host, refreshes } = await loggedIn();
  const refusal = 'Bearer error="insufficient_scope", scope="tickets:delete"';
  server.instead = (_, response) => response.writeHead(403, { 'www-authenticate': refusal }).end();
  expect(await host.call(server.url)).toMatchObject({
    error: { code: 'EMCPLOGIN', message: expect.stringContaining('tickets:delete'), next: nextLogin },
  });
  expect(refreshes()).toBe(0);
});

test('a machine asks for the same scopes again, when the authorization server does not repeat them', async () => {
  const { authority, server, host } = await loggedIn();
  const client = { client_id: 'machine', client_secret: 'CLIENT_SECRET', issuer: authority.origin };
  const oauth = { grant: 'client_credentials', ...client, scopes: ['tickets:read', 'tickets:write'] };
  await host.logIn(server.url, authority.browse, { oauth });
  expect(await host.call(server.url, { oauth })).toEqual(done);
  host.ahead = hour;
  expect(await host.call(server.url, { oauth })).toEqual(done);
  const asked = authority.heard.filter(({ body }) => body.grant_type === 'client_credentials');
  expect(asked.map(({ body }) => body.scope)).toEqual(Array(2).fill('tickets:read tickets:write'));
  expect(asked.map(({ body }) => body.resource)).toEqual(Array(2).fill(server.url));
});

test('a process that is killed while it renews: the next one renews at once', async () => {
  const { authority, server, host, refreshes } = await loggedIn();
  const asked = Promise.withResolvers<void>();
  authority.instead['/token'] = () => asked.resolve();
  const child = spawn(process.execPath, [program, server.url, host.dataDir, host.key, String(hour)]);
  child.stdin.end();
  await asked.promise;
  child.kill('SIGKILL');
  await once(child, 'close');
  authority.instead = {};
  host.ahead = hour;
  expect(await host.call(server.url)).toEqual(done);
  expect(refreshes()).toBe(2);
});

test('a renewal whose answer is lost fails the call with the next step; the next call shows whether the login has ended', async () => {
  const { authority, server, host, refreshes } = await loggedIn();
  host.ahead = hour;
  authority.instead['/token'] = (_, response) => response.destroy();
  const failed = { status: 'failed', error: { code: 'EMCPAUTH', next: nextLogin } };
  expect(await host.call(server.url)).toMatchObject(failed);
  // The token was not used up.
  authority.instead = {};
  expect(await host.call(server.url)).toEqual(done);
  host.ahead += hour;
  // The token was used up, and the answer did not come.
  authority.instead['/token'] = (_, response) => json(response, { error: 'invalid_grant' }, 400);
  expect(await host.call(server.url)).toMatchObject({ error: { code: 'EMCPLOGIN', next: nextLogin } });
  expect(host.secrets.logins.list('default')).toEqual([]);
  expect(refreshes()).toBe(3);
  expect(await host.call(server.url)).toMatchObject({ error: { code: 'EMCPLOGIN', next: nextLogin } });
  expect(refreshes()).toBe(3);
  authority.instead = {};
  await host.logIn(server.url, authority.browse);
  expect(await host.call(server.url)).toEqual(done);
});

test('an authorization server that is away or repeats the token in an error: no token in the outcome, and the login stays', async () => {
  const { authority, server, host, login } = await loggedIn();
  host.ahead = hour;
  authority.instead['/token'] = (_, response, { body }) =>
    json(response, { error: `broken ${body.refresh_token}`, error_description: body.refresh_token }, 500);
  const outcome = await host.call(server.url);
  expect(outcome).toMatchObject({ status: 'failed', error: { code: 'EMCPAUTH', next: nextLogin } });
  expect(JSON.stringify(outcome)).not.toContain(login.refresh);
  authority.instead['/token'] = (_, response, { body }) => response.writeHead(502).end(`<html>${body.refresh_token}`);
  expect(JSON.stringify(await host.call(server.url))).not.toContain(login.refresh);
  authority.instead = {};
  expect(await host.call(server.url)).toEqual(done);
});

test('a server that names another issuer gets no token, and the other issuer gets no refresh token', async () => {
  const { authority, server, host } = await loggedIn();
  const other = await serveAuthority();
  host.ahead = hour;
  server.metadata = { authorization_servers: [other.origin] };
  const failed = {
    status: 'failed',
    error: { code: 'EMCPLOGIN', message: expect.stringContaining(other.origin), next: nextLogin },
  };
  expect(await host.call(server.url)).toMatchObject(failed);
  expect(server.count('/mcp')).toBe(1);
  expect(authority.heard.filter(({ body }) => body.grant_type === 'refresh_token')).toEqual([]);
  // The same with a token that counts, when the server refuses it and names the other issuer in its refusal.
  const second = await loggedIn();
  expect(await second.host.call(second.server.url)).toEqual(done);
  const trap = await serveMcp(other);
  second.server.instead = (_, response) =>
    response
      .writeHead(401, {
        'www-authenticate': `Bearer resource_metadata="${trap.origin}/.well-known/oauth-protected-resource"`,
      })
      .end();
  trap.metadata = { resource: second.server.url };
  expect(await second.host.call(second.server.url)).toMatchObject(failed);
  expect(second.refreshes()).toBe(0);
  expect(other.heard).toEqual([]);
});

test('another resource, issuer or client in the entry is another login', async () => {
  const { authority, server, host } = await loggedIn();
  expect(await host.call(server.url, { oauth: { client_id: 'by-hand' } })).toMatchObject({
    error: { code: 'EMCPLOGIN' },
  });
  expect(await host.call(server.url, { oauth: { issuer: 'https://other.example' } })).toMatchObject({
    error: { code: 'EMCPLOGIN' },
  });
  expect(await host.call(`${server.url}/other`)).toMatchObject({ error: { code: 'EMCPLOGIN' } });
  const moved = await serveMcp(authority);
  expect(await host.call(moved.url)).toMatchObject({ error: { code: 'EMCPLOGIN' } });
  expect(moved.heard.filter(({ authorization }) => authorization !== undefined)).toEqual([]);
});

test('on disk a login is encrypted; a changed byte is an error, and a redactor knows each token', async () => {
  const { host, login, server } = await loggedIn();
  const folder = join(host.dataDir, 'logins', 'default');
  const [name = ''] = readdirSync(folder);
  const file = join(folder, name);
  for (const token of [login.access, login.refresh ?? '']) {
    expect(readFileSync(file, 'utf8')).not.toContain(token);
    expect(
      openLoginHost({ dataDir: host.dataDir, key: host.key }).secrets.redactor('default').text(`a ${token} b`),
    ).toMatch(/^a \[secret \w+\] b$/);
  }
  // No run can name it, and no list shows it.
  expect(host.secrets.list('default').map((secret) => secret.name)).toEqual(['CLIENT_SECRET']);
  expect(() => host.secrets.resolve(name.replace('.json', ''), { tenant: 'default' })).toThrow('There is no secret');
  const entry = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(
    file,
    JSON.stringify({ ...entry, sealed: `${entry.sealed[0] === 'A' ? 'B' : 'A'}${entry.sealed.slice(1)}` }),
  );
  await expect(host.call(server.url)).rejects.toMatchObject({ code: 'ESECRETSTORE' });
  expect(existsSync(file)).toBe(true);
});
