import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { findConnection } from './connection.ts';
import { readConfig } from './shell/index.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'hp-connection-'));
writeFileSync(join(dataDir, 'api-key'), 'the-key\n', { mode: 0o600 });
afterAll(() => rmSync(dataDir, { recursive: true }));

const connect = (url: string, env: Record<string, string> = {}) =>
  findConnection(readConfig({ HOLDPOINT_DATA: dataDir, ...env }, dataDir), url);

it.each(['http://127.0.0.1:4747', 'http://127.9.9.9', 'http://localhost:1', 'http://[::1]:2', 'http://2130706433'])(
  'reads the key of the data directory for this machine: %s',
  (url) => expect(connect(url).key).toBe('the-key'),
);

it.each([
  'http://127.evil.example',
  'http://127.0.0.1.evil.example',
  'http://localhost.evil.example',
  'http://127.0.0.1@evil.example',
  'http://[::ffff:127.0.0.1]',
  'https://10.0.0.1',
])('refuses that key for another machine: %s', (url) => {
  expect(() => connect(url)).toThrow(expect.objectContaining({ code: 'no_key' }));
  expect(connect(url, { HOLDPOINT_KEY: 'given' }).key).toBe('given');
});
