import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client as McpClient } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type McpClientName, mcpClientNames, mcpClients } from '../../mcp-clients/clients.ts';
import { call } from '../../testing/cli.ts';
import { systemForTests } from '../../testing/system.ts';

const { env } = systemForTests();
let home = '';
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'hp-mcp-home-'));
});
afterAll(() => rm(home, { recursive: true, force: true }));

const mine = () => ({ ...env, HOME: home, INIT_CWD: home });
const mcp = (...args: string[]) => call(['mcp', ...args], mine());
const fileOf = (name: McpClientName): string => mcpClients[name].file({ home, cwd: home, environment: {} });

function put(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

test.each(mcpClientNames)('%s: installed, started as configured, and gone again', async (name) => {
  const file = fileOf(name);
  const before = name === 'codex' ? 'model = "a"\n' : '{\n  "a": 1\n}\n';
  put(file, before);
  chmodSync(file, 0o640);
  expect((await mcp('install', name, '--print')).stdout).toContain('--key-file');
  expect(readFileSync(file, 'utf8')).toBe(before);

  expect(await mcp('install', name)).toMatchObject({ code: 0 });
  expect(statSync(file).mode & 0o777).toBe(0o640);
  const key = join(home, '.config/holdpoint/mcp', `${name}.key`);
  expect(statSync(key).mode & 0o777).toBe(0o600);
  const secret = readFileSync(key, 'utf8').trim();
  expect(readFileSync(file, 'utf8')).not.toContain(secret);
  expect(await mcp('install', name)).toMatchObject({
    code: 8,
    stderr: expect.stringContaining(`mcp uninstall ${name}`),
  });

  const printed = (await mcp('install', name, '--print')).stdout;
  const [, url] = /--url"?,?\s*"([^"]+)"/.exec(printed) ?? [];
  const client = new McpClient({ name: 'a-client', version: '1.0.0' });
  const [command] = /"[^"]*bin\/holdpoint"/.exec(printed) ?? [];
  await client.connect(
    new StdioClientTransport({
      command: JSON.parse(command ?? '""'),
      args: ['mcp', 'serve', '--url', url ?? '', '--key-file', key],
      env: { PATH: process.env.PATH ?? '', HOME: home },
    }),
  );
  const { tools } = await client.listTools();
  expect(tools.map((tool) => tool.name)).toContain('submit_run');
  await client.close();
  const me = JSON.parse((await call(['keys', 'whoami', '--json'], { ...mine(), HOLDPOINT_KEY: secret })).stdout);
  expect(me).toMatchObject({
    kind: 'agent',
    name: `mcp ${name}`,
    scopes: ['runs:read', 'runs:write', 'approvals:read'],
  });

  expect(await mcp('uninstall', name)).toMatchObject({ code: 0, stdout: expect.stringContaining('is revoked') });
  const left = readFileSync(file, 'utf8');
  expect(left).not.toContain('holdpoint');
  if (name === 'codex') expect(left).toBe(before);
  else expect(JSON.parse(left)).toMatchObject({ a: 1 });
  expect(existsSync(key)).toBe(false);
  expect((await call(['keys', 'whoami'], { ...mine(), HOLDPOINT_KEY: secret })).code).toBe(4);
  expect(await mcp('uninstall', name)).toMatchObject({ code: 0 });
});

test('a file that is not valid stays as it is, and no key is made', async () => {
  const file = fileOf('gemini');
  put(file, '{\n  "mcpServers": {\n');
  const keysBefore = (await call(['keys', 'list'], env)).stdout;
  const refused = await mcp('install', 'gemini');
  expect(refused).toMatchObject({ code: 8, stderr: expect.stringContaining('line ') });
  expect(readFileSync(file, 'utf8')).toBe('{\n  "mcpServers": {\n');
  expect((await call(['keys', 'list'], env)).stdout).toBe(keysBefore);
  expect((await mcp('install', 'nothing')).code).toBe(2);
});

test('a configuration that cannot be written takes the key back', async () => {
  const file = fileOf('cursor');
  await rm(dirname(file), { recursive: true, force: true });
  // A link to nowhere: there is no file to read, and none can be made there.
  mkdirSync(dirname(file), { recursive: true });
  symlinkSync(join(home, 'none/mcp.json'), file);
  await rm(join(home, '.config/holdpoint'), { recursive: true, force: true });
  writeFileSync(join(home, '.config/holdpoint'), 'in the way');
  expect((await mcp('install', 'cursor')).code).toBe(1);
  const { data } = JSON.parse((await call(['keys', 'list', '--json'], env)).stdout);
  const [last] = data.filter(({ name }: { name: string }) => name === 'mcp cursor');
  expect(last.revoked_at).not.toBeNull();
  expect(readdirSync(join(home, '.config'))).not.toContain('cursor.key');
});

test('a second home installs the same client with a key of its own, and the first key stays', async () => {
  const homes = await Promise.all(['first', 'second'].map((name) => mkdtemp(join(tmpdir(), `hp-mcp-${name}-`))));
  const [first = '', second = ''] = homes;
  const mcpIn = (home: string, ...args: string[]) => call(['mcp', ...args], { ...env, HOME: home, INIT_CWD: home });
  for (const one of homes) expect(await mcpIn(one, 'install', 'gemini')).toMatchObject({ code: 0 });
  const keyIn = (at: string) => readFileSync(join(at, '.config/holdpoint/mcp/gemini.key'), 'utf8').trim();
  const whoIs = async (key: string) =>
    JSON.parse((await call(['keys', 'whoami', '--json'], { ...mine(), HOLDPOINT_KEY: key })).stdout).name;
  expect(await whoIs(keyIn(first))).toBe('mcp gemini');
  expect(await whoIs(keyIn(second))).toMatch(/^mcp gemini [0-9a-f]{6}$/);
  expect(await mcpIn(second, 'uninstall', 'gemini')).toMatchObject({ code: 0 });
  expect(await whoIs(keyIn(first))).toBe('mcp gemini');
  expect(await mcpIn(first, 'uninstall', 'gemini')).toMatchObject({ code: 0 });
  for (const one of homes) await rm(one, { recursive: true, force: true });
});
