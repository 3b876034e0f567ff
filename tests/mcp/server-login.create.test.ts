import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { appEnv, finished, placesWith, plan, projectDir, type System, startSystem } from '../harness/index.ts';
import {
  type AuthorizationServer,
  addressOf,
  listening,
  logInByBrowser,
  startAuthorizationServer,
} from './authorization-server.ts';

const directory = mkdtempSync(join(tmpdir(), 'holdpoint-server-login-'));
const machine = { id: 'the-machine', secret: 'canary-secret-of-the-machine' };
const main = join(projectDir, 'apps/cli/src/main.ts');
let authority: AuthorizationServer;
let tickets: Server;
/** The titles of the tickets that were opened. */
const opened: string[] = [];
let settings: Record<string, string> = {};
let system: System;

beforeAll(async () => {
  authority = await startAuthorizationServer(machine);
  tickets = await serveTickets();
  settings = {
    HOLDPOINT_MCP_SERVERS: join(directory, 'servers.json'),
    HOLDPOINT_ALLOW_ADDRESSES: '127.0.0.0/8',
    HOLDPOINT_SECRETS_KEY: randomBytes(32).toString('base64'),
    HOLDPOINT_SECRETS_ENV: 'MACHINE_SECRET',
    MACHINE_SECRET: machine.secret,
  };
  system = await startSystem(settings);
  settings = { ...settings, HOLDPOINT_DATA: system.dataDir };
  await system.startWorker();
  await system.startWorker();
  const added = await holdpoint('add', 'tickets', `${addressOf(tickets)}/mcp`);
  expect(added.stdout).toMatch(/It asks for a login: .*mcp login tickets/);
  await logIn('tickets');
  await holdpoint('accept', 'tickets', '--yes');
  const asMachine = ['--client-credentials', '--client-id', machine.id, '--client-secret', 'MACHINE_SECRET'];
  await holdpoint('add', 'robots', `${addressOf(tickets)}/mcp`, ...asMachine, '--issuer', authority.issuer);
  await holdpoint('accept', 'robots', '--yes');
  await holdpoint('logout', 'tickets');
});
afterAll(async () => {
  await system?.[Symbol.asyncDispose]();
  authority?.stop();
  tickets?.closeAllConnections();
  tickets?.close();
  rmSync(directory, { recursive: true, force: true });
});

/** A server of the protocol's project that answers no request without a token for itself. */
async function serveTickets(): Promise<Server> {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'tickets', version: '1.0.0' });
    server.registerTool(
      'open_ticket',
      { description: 'Opens a ticket.', inputSchema: z.object({ title: z.string() }) },
      async ({ title }, { http }) => {
        opened.push(title);
        // A careless server repeats the token that it was sent.
        return { content: [{ type: 'text', text: `opened ${title} for ${http?.req?.headers.get('authorization')}` }] };
      },
    );
    return server;
  });
  const server = createServer(async (request, response) => {
    const origin = `http://${request.headers.host}`;
    const described = {
      resource: `${origin}/mcp`,
      authorization_servers: [authority.issuer],
      scopes_supported: ['tickets:write'],
    };
    if (request.url === '/metadata') return void response.end(JSON.stringify(described));
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    if (!(await authority.accepts(token, described.resource))) {
      response.setHeader('www-authenticate', `Bearer resource_metadata="${origin}/metadata"`);
      return void response.writeHead(401).end();
    }
    const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const body = await text(request);
    const sent = new Request(`${origin}${request.url}`, {
      method: request.method,
      headers,
      ...(body !== '' && { body }),
    });
    const answer = await handler.fetch(sent);
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  await listening(server);
  return server;
}

const environment = () => ({ ...appEnv, ...settings });

const holdpoint = (...args: string[]) =>
  promisify(execFile)(process.execPath, [main, 'mcp', ...args], { env: environment() });

const refused = (...args: string[]): Promise<{ code: number; stderr: string }> =>
  holdpoint(...args).then(
    () => ({ code: 0, stderr: '' }),
    (error: { code: number; stderr: string }) => error,
  );

/** The command and a person with a browser. */
async function logIn(name: string, ...options: string[]) {
  const child = spawn(process.execPath, [main, 'mcp', 'login', name, ...options], { env: environment() });
  const failure = text(child.stderr);
  const lines = createInterface(child.stdout);
  const said: string[] = [];
  lines.on('line', (line) => said.push(line));
  const ended = once(child, 'close');
  await Promise.race([once(lines, 'line'), ended]);
  const [address = ''] = said;
  if (address === '') throw new Error(await failure);
  const { page } = await logInByBrowser(address);
  await ended;
  return {
    address: new URL(address),
    page,
    code: child.exitCode,
    said: said.slice(1).join('\n'),
    stderr: await failure,
  };
}

const rules = [{ match: { tool: 'mcp__*' }, action: 'allow' as const }];

/** Calls the tool in a run, once for each title. */
const openTickets = (server: string, ...titles: string[]) => openTicketsOf(system.client, server, ...titles);

async function openTicketsOf(client: System['client'], server: string, ...titles: string[]) {
  const steps = titles.map((title) => ({ tool: `mcp__${server}__open_ticket`, args: { title } }));
  const { run } = await client.createRun({ policy: { rules }, plan: plan(steps) });
  await finished(client, run.id);
  const { data } = await client.listSteps(run.id);
  return data.map(({ status, result }) => ({ status, result: JSON.stringify(result) }));
}

const lost = { status: 'failed', result: expect.stringMatching(/EMCPLOGIN.*holdpoint mcp login tickets/s) };

test('a call without a login fails with the next step, and the operator sees it', async () => {
  expect(await openTickets('tickets', 'Too early')).toEqual([lost]);
  expect(opened).not.toContain('Too early');
  expect((await holdpoint('list')).stdout).toMatch(/tickets +1 tools, \d{4}-\d\d-\d\d; needs a login/);
  expect(await refused('logout', 'tickets')).toMatchObject({ code: 7, stderr: expect.stringContaining('no login') });
});

test('a person logs in, and running workers use the login', async () => {
  const { address, page, code, said } = await logIn('tickets');
  expect(code).toBe(0);
  expect(said).toContain(`Logged in to tickets at ${authority.issuer}`);
  expect(page).toContain('You can close this page');
  const asked = Object.fromEntries(address.searchParams);
  expect(asked).toMatchObject({ code_challenge_method: 'S256', resource: `${addressOf(tickets)}/mcp` });
  expect(asked.redirect_uri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  const [step] = await openTickets('tickets', 'First');
  // The server repeats the token.
  expect(step).toEqual({ status: 'succeeded', result: expect.stringMatching(/opened First for Bearer \[secret /) });
  expect((await holdpoint('list')).stdout).not.toContain('needs a login');
});

test('two workers renew an expired token at the same moment: its rotating refresh token is used once', async () => {
  authority.lifetime = 1;
  await logIn('tickets');
  authority.lifetime = 3600;
  const issued = [...authority.issued];
  const accepted = () => Promise.all(issued.map((token) => authority.accepts(token, `${addressOf(tickets)}/mcp`)));
  await expect.poll(async () => (await accepted()).at(-2), { timeout: 20_000 }).toBe(false);
  const before = authority.grants.length;
  const outcomes = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((title) => openTickets('tickets', title)));
  expect(outcomes.flat().map(({ status }) => status)).toEqual(Array(6).fill('succeeded'));
  expect(authority.grants.slice(before)).toEqual(['refresh_token']);
});

test('tokens that the authorization server has ended: the calls fail once the renewal is refused, until a login', async () => {
  await authority.revokeAll();
  const before = authority.grants.length;
  expect(await openTickets('tickets', 'Revoked')).toEqual([lost]);
  expect(await openTickets('tickets', 'Revoked')).toEqual([lost]);
  expect(authority.grants.slice(before)).toEqual(['refresh_token: invalid_grant']);
  expect(opened).not.toContain('Revoked');
  await logIn('tickets');
  expect(await openTickets('tickets', 'Back')).toMatchObject([{ status: 'succeeded' }]);
});

test('a machine needs no person', async () => {
  expect(await openTickets('robots', 'By a machine')).toMatchObject([{ status: 'succeeded' }]);
  expect(authority.grants).toContain('client_credentials');
  expect((await holdpoint('list')).stdout).not.toContain('needs a login');
});

const inApi = (...args: string[]) =>
  promisify(execFile)(process.execPath, [main, 'mcp', ...args, '--url', system.api.url()], {
    env: { ...environment(), HOLDPOINT_KEY: system.key },
  });

test('through the API a server that asks for a login is said as such, and workers look at it with the login', async () => {
  const added = await inApi('add', 'desk', `${addressOf(tickets)}/mcp`);
  expect(added.stdout).toMatch(/It asks for a login on the machine of the API: .*mcp login desk/);
  expect(await system.client.getMcpServer('desk')).toMatchObject({
    ...{ state: 'needs_login', offered: false, failure: { code: 'EMCPLOGIN' } },
    why: expect.stringContaining('holdpoint mcp login desk'),
  });
  expect((await inApi('list')).stdout).toMatch(/desk +not accepted; needs a login/);
  await expect(system.client.acceptMcpServer('desk', { digest: '0'.repeat(64) })).rejects.toMatchObject({
    detail: expect.stringContaining('holdpoint mcp login desk'),
  });
  await logIn('desk');
  const looked = await system.client.lookAtMcpServer('desk');
  expect(looked).toMatchObject({ state: 'waiting', entry: { oauth: { grant: 'authorization_code' } } });
  await system.client.acceptMcpServer('desk', { digest: looked.seen?.digest ?? '' });
  expect(await openTickets('desk', 'By the API')).toMatchObject([{ status: 'succeeded' }]);
});

test('an entry that was edited gets no token when a worker looks at it, and its login counts again once it is undone', async () => {
  const file = join(directory, 'servers.json');
  const before = readFileSync(file, 'utf8');
  const tokens: string[] = [];
  const trap = createServer((request, response) => {
    tokens.push(request.headers.authorization ?? '');
    response.writeHead(401).end();
  });
  await listening(trap);
  try {
    const content = JSON.parse(before);
    content.servers.desk.url = `${addressOf(trap)}/mcp`;
    writeFileSync(file, JSON.stringify(content));
    expect(await system.client.lookAtMcpServer('desk')).toMatchObject({
      ...{ state: 'changed', offered: false, seen: null, failure: { code: 'EMCPLOGIN' } },
    });
    expect(await refused('accept', 'desk', '--yes')).toMatchObject({
      stderr: expect.stringContaining('mcp login desk'),
    });
    expect(await refused('login', 'desk')).toMatchObject({
      stderr: expect.stringMatching(/Look at its address, .*its entry is another than a person accepted/),
    });
    expect(tokens.filter((token) => token !== '')).toEqual([]);
  } finally {
    trap.close();
    writeFileSync(file, before);
  }
  expect(await openTickets('desk', 'Undone')).toMatchObject([{ status: 'succeeded' }]);
});

test('each tenant has a login of its own, and no run uses the login of another tenant', async () => {
  const scopes = ['runs:write', 'runs:read'] as const;
  const { key } = await system.client.createKey({ name: 'ann', kind: 'person', tenant: 'acme', scopes: [...scopes] });
  const acme = system.as(key);
  const own = (title: string) => openTicketsOf(acme, 'tickets', title);
  const lostThere = [{ ...lost, result: expect.stringContaining('holdpoint mcp login tickets --tenant acme') }];
  expect(await own('By acme, too early')).toEqual(lostThere);
  const { code, said } = await logIn('tickets', '--tenant', 'acme');
  expect([code, said]).toEqual([0, expect.stringContaining('for runs of acme')]);
  expect(await own('By acme')).toMatchObject([{ status: 'succeeded' }]);
  await holdpoint('logout', 'tickets');
  expect(await openTickets('tickets', 'By default')).toEqual([lost]);
  expect(await own('By acme alone')).toMatchObject([{ status: 'succeeded' }]);
  const next = 'There is one of acme: holdpoint mcp logout tickets --tenant acme';
  expect(await refused('logout', 'tickets')).toMatchObject({ code: 7, stderr: expect.stringContaining(next) });
  expect((await refused('login', 'tickets', '--tenant', '../acme')).stderr).toContain('is no name of a tenant');
  await logIn('tickets');
  await holdpoint('logout', 'tickets', '--tenant', 'acme');
  expect(await own('By acme, too late')).toEqual(lostThere);
  expect(await openTickets('tickets', 'By default again')).toMatchObject([{ status: 'succeeded' }]);
  expect(opened.filter((title) => /^By acme, too/.test(title))).toEqual([]);
});

test('no token is in Redis, in a log or in the data directory, and the file of servers has none', async () => {
  expect(authority.issued.size).toBeGreaterThan(8);
  expect(await placesWith(system, [...authority.issued, machine.secret])).toEqual([]);
  const file = readFileSync(join(directory, 'servers.json'), 'utf8');
  for (const token of authority.issued) expect(file).not.toContain(token);
});

test('a logout ends the tokens at the authorization server, too', async () => {
  const { stdout } = await holdpoint('logout', 'tickets');
  expect(stdout).toContain('has ended its tokens');
  expect(await openTickets('tickets', 'Gone')).toEqual([lost]);
});
