import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { readServers } from './server-store.ts';

const directory = mkdtempSync(join(tmpdir(), 'holdpoint-mcp-race-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const file = join(directory, 'mcp-servers.json');
const program = fileURLToPath(new URL('./testing/add-servers.ts', import.meta.url));

/** @param killAfter acknowledged servers after which the process is killed */
async function add(word: string, killAfter: number): Promise<string[]> {
  const child = spawn(process.execPath, [program, file, directory, word, '15'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  const acknowledged: string[] = [];
  for await (const name of createInterface({ input: child.stdout })) {
    acknowledged.push(name);
    if (acknowledged.length === killAfter) child.kill('SIGKILL');
  }
  await ended;
  return acknowledged;
}

test('writers at once lose no acknowledged server and leave a whole file, although some are killed', async () => {
  const words = ['a', 'b', 'c', 'd'];
  const acknowledged = (
    await Promise.all(words.map((word, index) => add(word, index % 2 === 0 ? 99 : 5 + index)))
  ).flat();
  const servers = readServers(file, directory);
  expect(acknowledged.length).toBeGreaterThan(40);
  for (const name of acknowledged) expect(servers.get(name)?.state).toBe('waiting');
  const { changes } = JSON.parse(readFileSync(file, 'utf8'));
  // Each server has its one entry for the audit log: both are one write.
  expect(changes.map(({ subject }: { subject: string }) => subject).sort()).toEqual(
    [...servers.keys()].map((name) => `mcp/${name}`).sort(),
  );
}, 60_000);
