import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openApiKey } from './api-key.ts';

let dataDir: string;
let file: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'hp-key-'));
  file = join(dataDir, 'api-key');
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

test('the first start makes a key that only this user reads; the next one keeps it', async () => {
  const isKey = await openApiKey(dataDir);
  const text = await readFile(file, 'utf8');
  expect(text).toMatch(/^hp_[A-Za-z0-9_-]{43}\n$/);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readdir(dataDir)).toEqual(['api-key']);
  expect(isKey(text.trim())).toBe(true);
  expect((await openApiKey(dataDir))(text.trim())).toBe(true);
  expect(await readFile(file, 'utf8')).toBe(text);
});

test('nothing else is the key', async () => {
  const isKey = await openApiKey(dataDir);
  const key = (await readFile(file, 'utf8')).trim();
  for (const other of ['', 'hp_', key.slice(0, -1), `${key}x`, key.toUpperCase(), `hp_${'A'.repeat(43)}`]) {
    expect(isKey(other)).toBe(false);
  }
});

test('processes that start at once agree on one key', async () => {
  const script = `import { openApiKey } from ${JSON.stringify(new URL('./api-key.ts', import.meta.url).href)};
    import { readFile } from 'node:fs/promises';
    const isKey = await openApiKey(${JSON.stringify(dataDir)});
    const key = (await readFile(${JSON.stringify(file)}, 'utf8')).trim();
    process.stdout.write(isKey(key) ? key : 'another');`;
  const start = () => promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  const inProcess = Array.from({ length: 8 }, () => openApiKey(dataDir));
  const [checks, ...others] = await Promise.all([Promise.all(inProcess), start(), start(), start()]);
  const key = (await readFile(file, 'utf8')).trim();
  expect(others.map(({ stdout }) => stdout)).toEqual([key, key, key]);
  expect(checks.every((isKey) => isKey(key))).toBe(true);
  expect(await readdir(dataDir)).toEqual(['api-key']);
});

test('a file that others may read is closed to them', async () => {
  await openApiKey(dataDir);
  await chmod(file, 0o644);
  await openApiKey(dataDir);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('a file with something else in it is refused and left alone', async () => {
  await writeFile(file, 'hp_short\n');
  await expect(openApiKey(dataDir)).rejects.toMatchObject({ code: 'api_key_unusable' });
  expect(await readFile(file, 'utf8')).toBe('hp_short\n');
});
