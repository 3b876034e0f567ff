import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openKeyFile } from './key-file.ts';

let dataDir: string;
let file: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'hp-key-'));
  file = join(dataDir, 'api-key');
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

test('the first start makes a key readable for this user alone; the next start keeps the key', async () => {
  const key = await openKeyFile(dataDir);
  const text = await readFile(file, 'utf8');
  expect(text).toMatch(/^hp_[A-Za-z0-9_-]{49}\n$/);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readdir(dataDir)).toEqual(['api-key']);
  expect(text.trim()).toBe(key);
  expect(await openKeyFile(dataDir)).toBe(key);
  expect(await readFile(file, 'utf8')).toBe(text);
});

test('a key of a version without checksums is kept', async () => {
  const old = `hp_${'A'.repeat(43)}`;
  await writeFile(file, `${old}\n`);
  expect(await openKeyFile(dataDir)).toBe(old);
});

test('processes that start at once agree on one key', async () => {
  const script = `import { openKeyFile } from ${JSON.stringify(new URL('./key-file.ts', import.meta.url).href)};
    process.stdout.write(await openKeyFile(${JSON.stringify(dataDir)}));`;
  const start = () => promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  const inProcess = Array.from({ length: 8 }, () => openKeyFile(dataDir));
  const [keys, ...others] = await Promise.all([Promise.all(inProcess), start(), start(), start()]);
  const key = (await readFile(file, 'utf8')).trim();
  expect(others.map(({ stdout }) => stdout)).toEqual([key, key, key]);
  expect(new Set(keys)).toEqual(new Set([key]));
  expect(await readdir(dataDir)).toEqual(['api-key']);
});

test('a file that others may read is closed to them', async () => {
  await openKeyFile(dataDir);
  await chmod(file, 0o644);
  await openKeyFile(dataDir);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('a file with something else in it is refused and left alone', async () => {
  await writeFile(file, 'hp_short\n');
  await expect(openKeyFile(dataDir)).rejects.toMatchObject({ code: 'api_key_unusable' });
  expect(await readFile(file, 'utf8')).toBe('hp_short\n');
});
