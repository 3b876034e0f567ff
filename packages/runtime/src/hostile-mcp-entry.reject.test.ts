import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  acceptanceDigest,
  acceptServer,
  addServer,
  followTools,
  type McpServer,
  openServerStore,
  serverSchema,
} from '@holdpoint/mcp';
import { everyToolset, type ToolContext } from '@holdpoint/tools';
import { afterAll, expect, test } from 'vitest';
import { openCallNetwork, openOAuthHost } from './adapters/run-network.ts';
import { askedTools, openLoginHost, removeLoginHosts } from './testing/login-host.ts';
import { useServers } from './testing/oauth-servers.ts';

afterAll(removeLoginHosts);
const { serveAuthority, serveMcp } = useServers();

const allowAddresses = ['127.0.0.1/32'];
const log = { info() {}, warn() {}, error() {} };
const done = { status: 'succeeded', value: { content: [{ type: 'text', text: 'done' }] } };

/** A server with a login that a person accepted, a process that follows its file, and the servers of a thief. */
async function acceptedWithLogin() {
  const authority = await serveAuthority();
  const server = await serveMcp(authority);
  const theirs = await serveAuthority();
  const trap = await serveMcp(theirs);
  const host = openLoginHost();
  const oauth = { issuer: authority.origin, scopes: ['tickets:read'] };
  await host.logIn(server.url, authority.browse, { oauth });
  const file = join(host.dataDir, 'mcp-servers.json');
  const store = await openServerStore(file, host.dataDir);
  const by = { name: 'ann' };
  const { secrets } = host;
  const loaded = { toolsets: [...everyToolset], modules: [] };
  const following = followTools(loaded, store, { log, oauth: openOAuthHost({ secrets, allowAddresses }) });
  const accept = async () => {
    const entry = JSON.parse(readFileSync(file, 'utf8')).servers.own;
    const digest = acceptanceDigest('own', serverSchema.parse(entry), askedTools.digest);
    expect(await acceptServer(store, { name: 'own', asked: askedTools, digest, by })).toBe('accepted');
  };
  const call = async ({ url }: { url: string }) => {
    await using way = await openCallNetwork(
      { network: { allow: [new URL(url).host] }, scope: { tenant: 'default', secrets: [] }, onConnection() {} },
      { allowAddresses, secrets },
    );
    const { signal } = new AbortController();
    const parts = { files: {}, text: {}, tasks: {}, past: {} };
    const context = { ...parts, network: way?.network, tenant: 'default', signal } as ToolContext;
    return await following.registry.execute({ toolset: 'holdpoint', tool: 'mcp__own__act', args: {}, context });
  };
  const entry = serverSchema.parse({ url: server.url, oauth, timeout_s: 20 });
  await addServer(store, { name: 'own', server: entry, by });
  await accept();
  expect(await call(server)).toEqual(done);
  const heardBefore = server.heard.length;
  return {
    authority,
    server,
    theirs,
    trap,
    file,
    store,
    accept,
    call,
    heardSince: () => server.heard.slice(heardBefore),
  };
}

type Found = Awaited<ReturnType<typeof acceptedWithLogin>>;
type HttpEntry = Extract<McpServer, { url: string }>;

function edit({ file }: Found, change: (entry: HttpEntry) => HttpEntry): HttpEntry {
  const content = JSON.parse(readFileSync(file, 'utf8'));
  content.servers.own = change(content.servers.own);
  writeFileSync(file, JSON.stringify(content));
  return content.servers.own;
}

const withSettings = (oauth: object) => (entry: HttpEntry) =>
  ({ ...entry, oauth: { ...entry.oauth, ...oauth } }) as HttpEntry;

test.each<[string, (at: Found) => (entry: HttpEntry) => HttpEntry]>([
  ['issuer', ({ theirs }) => withSettings({ issuer: theirs.origin })],
  ['client id', () => withSettings({ client_id: 'another' })],
  [
    'address',
    ({ trap }) =>
      (entry) => ({ ...entry, url: trap.url }),
  ],
  [
    'path of the address',
    ({ server }) =>
      (entry) => ({ ...entry, url: `${server.url}/other` }),
  ],
  [
    'query of the address',
    ({ server }) =>
      (entry) => ({ ...entry, url: `${server.url}?tenant=other` }),
  ],
])(
  'another %s in the file of an accepted server needs a new acceptance, and even then gets no token',
  async (_, change) => {
    const at = await acceptedWithLogin();
    const { store, trap, theirs, call, accept, heardSince } = at;
    const entry = edit(at, change(at));
    expect(store.look().servers.get('own')).toMatchObject({ state: 'changed', why: expect.stringContaining('entry') });
    expect(await call(entry)).toMatchObject({ status: 'failed' });
    expect([...trap.heard, ...theirs.heard, ...heardSince()]).toEqual([]);
    await accept();
    expect(await call(entry)).toMatchObject({
      status: 'failed',
      error: { code: 'EMCPLOGIN', message: expect.stringContaining('its entry has changed since the last login') },
    });
    const heard = [...trap.heard, ...theirs.heard, ...heardSince()];
    expect(heard.filter(({ authorization }) => authorization !== undefined)).toEqual([]);
  },
);

test('other scopes in the file of an accepted server need a new acceptance', async () => {
  const at = await acceptedWithLogin();
  const entry = edit(at, withSettings({ scopes: ['tickets:read', 'tickets:delete'] }));
  expect(at.store.look().servers.get('own')).toMatchObject({ state: 'changed' });
  expect(await at.call(entry)).toMatchObject({ status: 'failed' });
  expect(at.heardSince()).toEqual([]);
  await at.accept();
  expect(await at.call(entry)).toMatchObject(done);
});
