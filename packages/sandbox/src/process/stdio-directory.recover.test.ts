import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeStdioDirectory, sweepStdioDirectories } from './stdio-directory.ts';

let parent: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'stdio-'));
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

/** A process that is killed while its directory has a name. */
function killedProcess(): void {
  const module = new URL('stdio-directory.ts', import.meta.url).href;
  const program = `
    import { mkdirSync } from 'node:fs';
    const { makeStdioDirectory } = await import(${JSON.stringify(module)});
    mkdirSync(makeStdioDirectory(${JSON.stringify(parent)}) + '/fifo');
    process.kill(process.pid, 'SIGKILL');`;
  expect(() => execFileSync(process.execPath, ['--input-type=module', '-e', program], { stdio: 'pipe' })).toThrow();
}

test('what a killed process left is removed, and what a living one uses stays', () => {
  killedProcess();
  const own = makeStdioDirectory(parent);
  expect(readdirSync(parent)).toHaveLength(2);
  sweepStdioDirectories(parent);
  expect(readdirSync(parent).map((name) => join(parent, name))).toEqual([own]);
});

test('a name without an owner is removed once it is old; a process of another namespace, and other names, are left alone', () => {
  const made = [
    'holdpoint-stdio-abcdef',
    'holdpoint-stdio-ABCDE1',
    'holdpoint-stdio-1-2-3-abcdef',
    'other-stdio-abcdef',
  ];
  for (const name of made) mkdirSync(join(parent, name));
  utimesSync(join(parent, 'holdpoint-stdio-abcdef'), 0, 0);
  sweepStdioDirectories(parent);
  expect(made.filter((name) => !existsSync(join(parent, name)))).toEqual(['holdpoint-stdio-abcdef']);
});

test('nothing to sweep is no error', () => {
  expect(() => sweepStdioDirectories(join(parent, 'missing'))).not.toThrow();
});
