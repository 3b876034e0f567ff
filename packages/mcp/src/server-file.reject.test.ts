import { chmod, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { acceptancesFile } from './acceptances.ts';
import { acceptServer, addServer, forgetChanges, removeServer } from './change-servers.ts';
import { serversFile } from './server-file.ts';
import { acceptedServers, openServerStore, readServers } from './server-store.ts';
import { acceptanceDigest, type McpServer, pin, serverSchema } from './servers.ts';

let directory: string;
let file: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdpoint-mcp-file-'));
  file = join(directory, 'mcp-servers.json');
});
const write = (servers: unknown) => writeFile(file, JSON.stringify({ servers }));
const judge = async (entry: unknown, name = 'own') => {
  await write({ [name]: entry, other: { command: 'node' } });
  const servers = readServers(file, directory);
  expect(servers.get('other')?.state).toBe('waiting');
  return servers.get(name);
};
const tools = [{ name: 'act', description: '', input_schema: { type: 'object' }, hints: { destructive: false } }];
const asked = { protocol: '2025-11-25', server: 'a 1', digest: pin(tools), tools, left_out: {} };
const by = { name: 'ann', kind: 'person' as const };
const node = serverSchema.parse({ command: 'node' });
const https = { url: 'https://a.example/mcp' };

/** A server that a person accepted here. */
async function accepted(name = 'own', server: McpServer = node) {
  const store = await openServerStore(file, directory);
  await addServer(store, { name, server, by });
  const digest = acceptanceDigest(name, server, asked.digest);
  expect(await acceptServer(store, { name, asked, digest, by })).toBe('accepted');
  return store;
}

async function edit(change: (servers: Record<string, Record<string, unknown>>) => void): Promise<void> {
  const content = JSON.parse(await readFile(file, 'utf8'));
  change(content.servers);
  await writeFile(file, JSON.stringify(content));
}

test('without a file there are no servers, and a reader writes nothing', async () => {
  expect(readServers(file, directory)).toEqual(new Map());
  expect(serversFile('/data', {})).toBe('/data/mcp-servers.json');
  expect(serversFile('/data', { HOLDPOINT_MCP_SERVERS: '/etc/servers.json' })).toBe('/etc/servers.json');
  await expect(stat(acceptancesFile(directory))).rejects.toThrow('ENOENT');
  expect(node).toMatchObject({ workspace: 'write', network: false, toolsets: ['holdpoint'], timeout_s: 60 });
});

test.each<[string, unknown, RegExp]>([
  ['no command', { args: [] }, /servers\.own\.command/],
  ['an unknown field', { command: 'node', shell: true }, /shell/],
  ['a field of programs at an address', { url: 'https://a.example', workspace: 'read' }, /workspace/],
  ['no URL', { url: 'a.example' }, /servers\.own\.url: expected a URL/],
  ['another protocol', { url: 'ftp://a.example' }, /expected http or https/],
  ['credentials in the URL', { url: 'https://me:pw@a.example' }, /no place for credentials/],
  ['a secret in the clear', { url: 'http://a.example', headers: { A: { secret: 'T' } } }, /over https/],
  ['a header of the connection', { url: 'https://a.example', headers: { Host: { secret: 'T' } } }, /belongs to the/],
  ['two places', { url: 'https://a.example', headers: { A: { secret: 'T', value: '{}{}' } } }, /\{\} once/],
  ['a line break in a header', { url: 'https://a.example', headers: { A: 'x\r\nB: y' } }, /printable/],
  ['a login beside a header for it', { ...https, headers: { authorization: 'x' }, oauth: {} }, /not both/],
  ['a login in the clear', { url: 'http://a.example', oauth: {} }, /token is sent over https/],
  ['an issuer in the clear', { ...https, oauth: { issuer: 'http://a.example' } }, /oauth\.issuer: expected an https/],
  ['a secret for any issuer', { ...https, oauth: { client_id: 'a', client_secret: 'T' } }, /oauth\.issuer/],
  ['a secret without its client', { ...https, oauth: { client_secret: 'T' } }, /oauth\.client_id/],
  ['a machine without a secret', { ...https, oauth: { grant: 'client_credentials' } }, /oauth\.client_secret/],
  ['a document at the root', { ...https, oauth: { client_metadata_url: 'https://a.example/' } }, /with a path/],
  ['a scope with a blank', { ...https, oauth: { scopes: ['a b'] } }, /name of a scope/],
  ['a token in the entry', { ...https, oauth: { access_token: 'x' } }, /access_token/],
  ['a variable that is no name', { command: 'node', env: { 'A B': '1' } }, /name of a variable/],
  ['a time without end', { command: 'node', timeout_s: 1e9 }, /timeout_s/],
  ['no entry', 'node', /servers\.own/],
])('an entry with %s is named by its place, and the others stay', async (_, entry, why) => {
  expect(await judge(entry)).toEqual({ state: 'invalid', why: expect.stringMatching(why) });
});

test('a name that no server can have is named', async () => {
  expect(await judge({ command: 'node' }, 'Own')).toMatchObject({
    state: 'invalid',
    why: expect.stringContaining('Own'),
  });
});

test('a file that is no JSON is refused by its path and place, and no change touches it', async () => {
  const store = await accepted();
  await writeFile(file, '{\n"servers": {,}}');
  expect(() => readServers(file, directory)).toThrow(expect.objectContaining({ code: 'EMCPCONFIG' }));
  expect(store.look()).toMatchObject({ problem: { message: expect.stringMatching(`${file}.*line 2`) } });
  await expect(removeServer(store, { name: 'own', by })).rejects.toMatchObject({ code: 'EMCPCONFIG' });
  expect(await readFile(file, 'utf8')).toBe('{\n"servers": {,}}');
  await write({ own: { command: 'node' } });
  expect(store.look()).not.toHaveProperty('problem');
});

test.each<[string, (server: Record<string, unknown>) => void]>([
  ['the command', (server) => Object.assign(server, { command: 'nod' })],
  ['an argument', (server) => Object.assign(server, { args: ['x'] })],
  ['a variable', (server) => Object.assign(server, { env: { A: '1' } })],
  ['the reach', (server) => Object.assign(server, { network: true })],
  ['the files', (server) => Object.assign(server, { workspace: 'read' })],
  ['the toolsets', (server) => Object.assign(server, { toolsets: ['sage'] })],
])('another value of %s asks for the acceptance again', async (_, change) => {
  const store = await accepted();
  expect(store.look().servers.get('own')?.state).toBe('accepted');
  await edit((servers) => change(servers.own ?? {}));
  expect(store.look().servers.get('own')).toMatchObject({ state: 'changed', why: expect.stringContaining('entry') });
  expect(acceptedServers(store.look().servers)).toEqual({});
});

test.each([
  ['the address', { url: 'https://b.example' }],
  ['a header', { headers: { A: 'y' } }],
  ['a login', { oauth: {} }],
])('another value of %s asks for the acceptance again', async (_, change) => {
  const store = await accepted('far', serverSchema.parse({ url: 'https://a.example', headers: { A: 'x' } }));
  await edit((servers) => Object.assign(servers.far ?? {}, change));
  expect(store.look().servers.get('far')).toMatchObject({ state: 'changed', why: expect.stringContaining('entry') });
});

test('an acceptance that was made elsewhere, or changed together with its digests, does not count', async () => {
  await accepted();
  const other = await mkdtemp(join(tmpdir(), 'holdpoint-mcp-other-'));
  const elsewhere = await openServerStore(file, other);
  const notMine = { state: 'changed', why: expect.stringContaining('another installation') };
  expect(elsewhere.look().servers.get('own')).toMatchObject(notMine);
  const forged = [{ ...tools[0], description: 'Trust me.' }];
  await edit((servers) => {
    const own = servers.own as { accepted: object };
    own.accepted = {
      ...own.accepted,
      tools: forged,
      digest: pin(
        serverSchema.parse({ ...node, accepted: { ...asked, at: new Date().toISOString(), tools: forged } }).accepted
          ?.tools ?? [],
      ),
    };
  });
  expect(readServers(file, directory).get('own')).toMatchObject(notMine);
  // Without its seal it is no acceptance of an earlier version.
  await edit((servers) => {
    const { accepted } = servers.own as { accepted: { seal?: string; entry?: object } };
    delete accepted.seal;
    delete accepted.entry;
  });
  expect(readServers(file, directory).get('own')).toMatchObject(notMine);
});

test('an acceptance whose entry this version cannot read does not count', async () => {
  const store = await openServerStore(file, directory);
  const later = Object.assign({}, node, { later: true });
  const sealed = store.acceptances.seal('own', later, { ...asked, at: new Date().toISOString(), by });
  await write({ own: { command: 'node', args: ['x'], accepted: sealed } });
  expect(store.look().servers.get('own')).toMatchObject({ state: 'changed', why: expect.stringContaining('entry') });
});

test('acceptances of earlier versions are pinned as they are at the first start', async () => {
  const early = { ...asked, at: '2026-01-01T00:00:00.000Z' };
  await write({ own: { command: 'node', accepted: early } });
  expect(readServers(file, directory).get('own')?.state).toBe('accepted');
  const store = await openServerStore(file, directory);
  expect(store.look().servers.get('own')?.state).toBe('accepted');
  await write({ own: { command: 'node', accepted: early }, late: { command: 'node', accepted: early } });
  expect(store.look().servers.get('late')?.state).toBe('changed');
  expect((await openServerStore(file, directory)).look().servers.get('own')?.state).toBe('accepted');
  await write({ own: { command: 'nodejs', accepted: early } });
  expect(store.look().servers.get('own')?.state).toBe('changed');
});

test('a flipped bit anywhere in the file is named, or changes no accepted server', async () => {
  const store = await accepted();
  await addServer(store, { name: 'more', server: node, by });
  await forgetChanges(store, new Set(store.look().changes.map(({ id }) => id)));
  const whole = await readFile(file);
  const before = store.look().servers;
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: whole.length - 1 }), fc.nat({ max: 7 }), async (at, bit) => {
      const flipped = Buffer.from(whole);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << bit);
      await rm(file);
      await writeFile(file, flipped);
      const { servers, problem } = store.look();
      const named = [...servers.values()].some(({ state }) => state === 'invalid' || state === 'changed');
      const present = servers.get('own');
      if (problem === undefined && !named && present?.state === 'accepted') expect(present).toEqual(before.get('own'));
      const same = [...before].filter(([name, judged]) => isDeepStrictEqual(servers.get(name), judged));
      expect(same.length).toBeGreaterThanOrEqual(before.size - 1);
    }),
    { numRuns: 500 },
  );
});

test('a broken key is named, and nothing replaces it', async () => {
  await accepted();
  await writeFile(acceptancesFile(directory), '{"key": "AAAA"');
  await expect(openServerStore(file, directory)).rejects.toMatchObject({
    ...{ code: 'EMCPCONFIG', message: expect.stringContaining(acceptancesFile(directory)) },
    next: expect.stringContaining('Restore'),
  });
  expect(await readFile(acceptancesFile(directory), 'utf8')).toBe('{"key": "AAAA"');
});

test('a change keeps the mode of the file, a link to it, and entries that cannot be used', async () => {
  const real = join(directory, 'real.json');
  await writeFile(real, JSON.stringify({ servers: { Bad: { a: 1 }, odd: [1, { b: 2 }] } }));
  await chmod(real, 0o640);
  await symlink(real, file);
  const store = await openServerStore(file, directory);
  await addServer(store, { name: 'own', server: node, by });
  expect(JSON.parse(await readFile(real, 'utf8')).servers).toMatchObject({ Bad: { a: 1 }, odd: [1, { b: 2 }] });
  expect((await stat(real)).mode & 0o777).toBe(0o640);
  expect(store.look().servers.get('own')?.state).toBe('waiting');
  expect(await removeServer(store, { name: 'odd', by })).toBe('removed');
});

test('a folder that is not there is named by the file that cannot be written', async () => {
  const missing = join(directory, 'none', 'servers.json');
  const store = await openServerStore(missing, directory);
  await expect(addServer(store, { name: 'own', server: node, by })).rejects.toMatchObject({
    ...{ code: 'EMCPCONFIG', message: expect.stringContaining(missing) },
  });
});

test('the first acceptance of what a person saw stays, and no other is made', async () => {
  const store = await accepted();
  const digest = acceptanceDigest('own', node, asked.digest);
  const bob = { name: 'bob' };
  expect(await acceptServer(store, { name: 'own', asked, digest, by: bob })).toBe('already');
  expect(await acceptServer(store, { name: 'own', asked, digest: '0'.repeat(64), by: bob })).toBe('changed');
  expect(await acceptServer(store, { name: 'none', asked, digest, by: bob })).toBe('unknown');
  const own = store.look().servers.get('own');
  expect(own).toMatchObject({ server: { accepted: { by } } });
  expect(await addServer(store, { name: 'own', server: node, by: bob })).toBe('same');
  expect(await addServer(store, { name: 'own', server: serverSchema.parse({ command: 'sh' }), by: bob })).toBe('taken');
  expect(store.look().changes.map(({ action, subject }) => [action, subject])).toEqual([
    ['added', 'mcp/own'],
    ['accepted', 'mcp/own'],
  ]);
});
