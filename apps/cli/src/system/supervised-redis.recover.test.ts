import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedRedis, stopEmbeddedRedis } from '@holdpoint/embedded-redis';
import { installedBinaries } from '@holdpoint/embedded-redis/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { superviseRedis } from './open-redis.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'hp-redis-kept-'));
});
afterEach(async () => {
  await stopEmbeddedRedis({ dataDir });
  rmSync(dataDir, { recursive: true, force: true });
});

it('retries a failing restart with growing pauses and reports each failure', async () => {
  const binaries = await installedBinaries();
  const first = await startEmbeddedRedis({ dataDir, binaries });
  const reports: string[] = [];
  let starts = 0;
  const end = superviseRedis(first, {
    // Twice the program is missing, as during an upgrade of the package.
    start: (signal) => startEmbeddedRedis({ dataDir, binaries: ++starts <= 2 ? [] : binaries, signal }),
    report: (text) => void reports.push(text),
    logFile: 'server.log',
  });
  process.kill(first.pid, 'SIGKILL');
  await expect.poll(() => reports.at(-1), { timeout: 30_000 }).toMatch(/^redis {5}restarted/);
  await end();
  expect(starts).toBe(3);
  expect(reports.slice(0, 3)).toEqual([
    'redis: the server ended; restart in 0.25 s',
    expect.stringMatching(
      /could not be started: No Redis to start.* \(2 times in a row; read server.log\); .* in 0.5 s$/,
    ),
    expect.stringMatching(/could not be started: .* \(3 times in a row; .* in 1 s$/),
  ]);
});
