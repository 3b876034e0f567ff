import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { findConnection } from './connection.ts';
import { readConfig } from './shell/index.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'hp-connection-'));
writeFileSync(join(dataDir, 'api-key'), 'the-key\n', { mode: 0o600 });
afterAll(() => rmSync(dataDir, { recursive: true }));

const connect = (url: string | undefined, env: Record<string, string> = {}) =>
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

it.each([
  [{}, 'http://127.0.0.1:4747'],
  [{ HOLDPOINT_PORT: '4848' }, 'http://127.0.0.1:4848'],
  [{ HOLDPOINT_PORT: '4848', HOLDPOINT_HOST: '0.0.0.0' }, 'http://127.0.0.1:4848'],
  [{ HOLDPOINT_PORT: '4848', HOLDPOINT_HOST: '::' }, 'http://[::1]:4848'],
  [{ HOLDPOINT_HOST: '192.0.2.7' }, 'http://192.0.2.7:4747'],
  [{ HOLDPOINT_PORT: '0' }, 'http://127.0.0.1:4747'],
  [{ HOLDPOINT_PORT: '4848', HOLDPOINT_URL: 'http://127.0.0.1:1' }, 'http://127.0.0.1:1'],
])('finds the API of a stopped system by its settings: %j', (env, url) => {
  expect(connect(undefined, env)).toEqual({ url, key: 'the-key' });
});

it('uses nothing of a copied data directory, and a given address with a given key', () => {
  const copy = mkdtempSync(join(tmpdir(), 'hp-connection-'));
  const record = JSON.stringify({ id: '0123abcd-0000-4000-8000-000000000000', home: dataDir });
  for (const directory of [dataDir, copy]) writeFileSync(join(directory, 'installation'), record);
  const from = (env: Record<string, string>, url?: string) =>
    findConnection(readConfig({ HOLDPOINT_DATA: copy, ...env }, copy), url);
  const refused = expect.objectContaining({ code: 'installation_copied', exitCode: 8 });
  const url = 'http://127.0.0.1:1';
  expect(() => from({})).toThrow(refused);
  expect(() => from({}, url)).toThrow(refused);
  expect(() => from({ HOLDPOINT_KEY: 'given' })).toThrow(refused);
  expect(from({ HOLDPOINT_KEY: 'given' }, url)).toEqual({ url, key: 'given' });
  expect(connect(url).key).toBe('the-key');
  rmSync(copy, { recursive: true });
});
