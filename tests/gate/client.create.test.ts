import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
let folder: string;

/** A folder with the client, the contract, undici and zod, and no other package. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hp-client-'));
  for (const name of ['client', 'contract']) {
    const copy = join(folder, 'packages', name);
    cpSync(join(root, 'packages', name), copy, { recursive: true });
    link(copy, `@holdpoint/${name}`);
  }
  for (const name of ['undici', 'zod']) link(join(root, 'node_modules', name), name);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function link(target: string, name: string): void {
  const path = join(folder, 'node_modules', name);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}

test('the client is created with contract, undici and zod alone', () => {
  const program = `
    import { ConnectionError, createClient } from '@holdpoint/client';
    const client = createClient({ baseUrl: 'http://127.0.0.1:1', key: 'hp_x' });
    const error = await client.health().catch((cause) => cause);
    process.stdout.write(String(error instanceof ConnectionError));
  `;
  const args = ['--input-type=module', '--eval', program];
  expect(execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })).toBe('true');
  for (const name of ['bullmq', 'ioredis', 'pino']) {
    const load = () => execFileSync(process.execPath, ['--eval', `require('${name}')`], { cwd: folder, stdio: 'pipe' });
    expect(load).toThrow('MODULE_NOT_FOUND');
  }
});
