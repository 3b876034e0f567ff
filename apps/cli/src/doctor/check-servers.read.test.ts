import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkServers } from './check-servers.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'hp-doctor-servers-'));
const check = (content?: object | string) => {
  const file = join(dataDir, 'mcp-servers.json');
  if (content !== undefined) writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return checkServers({ dataDir, environment: {} });
};

test('without a file there is nothing to say, and a server that waits for a person is named with the next step', async () => {
  expect(await check()).toEqual([]);
  expect(await check({ servers: { own: { command: 'node' } } })).toEqual([
    {
      name: 'mcp servers',
      level: 'warn',
      text: 'no run has the tools of own: it is not accepted',
      next: expect.stringContaining('mcp accept own'),
    },
  ]);
});

test('a server that wants a login and has none is named with the next step; one with a login is not', async () => {
  const servers = { own: { url: 'https://mcp.example/mcp', oauth: {} } };
  expect(await check({ servers })).toEqual([
    {
      name: 'mcp servers',
      level: 'warn',
      text: 'own has no login, so calls of its tools fail',
      next: expect.stringContaining('mcp login own'),
    },
  ]);
  mkdirSync(join(dataDir, 'logins', 'default'), { recursive: true });
  writeFileSync(join(dataDir, 'logins', 'default', `own__${'0'.repeat(32)}.json`), '{}');
  expect(await check({ servers })).toMatchObject([{ text: 'no run has the tools of own: it is not accepted' }]);
  expect(await check({ servers: { ow: servers.own } })).toMatchObject([
    { text: expect.stringContaining('ow has no login') },
  ]);
});

test('an accepted server is shown with its tools', async () => {
  const accepted = {
    at: '2026-01-02T00:00:00.000Z',
    protocol: '2025-11-25',
    server: 'a',
    tools: [],
    left_out: { big: 'x' },
  };
  // The digest of no tools.
  const digest = '4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945';
  expect(await check({ servers: { own: { command: 'node', accepted: { ...accepted, digest } } } })).toMatchObject([
    { level: 'ok', text: 'own: 0 tools of holdpoint, 1 left out, accepted on 2026-01-02' },
  ]);
});

test('an entry that cannot be used fails, and does not hide the others', async () => {
  expect(await check({ servers: { own: { comand: 'node' }, more: { command: 'node' } } })).toMatchObject([
    { level: 'fail', text: expect.stringContaining('own cannot be used: servers.own') },
    { level: 'warn', text: expect.stringContaining('more') },
  ]);
});

test('a file that no program starts with fails', async () => {
  expect(await check('{')).toMatchObject([{ level: 'fail', text: expect.stringContaining('mcp-servers.json') }]);
});
