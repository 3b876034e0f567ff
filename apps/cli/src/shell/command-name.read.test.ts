import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { commandNameFor } from './command-name.ts';

const directory = mkdtempSync(join(tmpdir(), 'hp-path-'));
writeFileSync(join(directory, 'holdpoint'), '', { mode: 0o755 });
afterAll(() => rmSync(directory, { recursive: true }));

it('is npx holdpoint unless the caller has the command on PATH', () => {
  expect(commandNameFor({ PATH: `/nonexistent:${directory}` })).toBe('holdpoint');
  expect(commandNameFor({ PATH: '/nonexistent' })).toBe('npx holdpoint');
  expect(commandNameFor({ PATH: directory, npm_command: 'exec' })).toBe('npx holdpoint');
});
