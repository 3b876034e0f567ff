import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { stopEmbeddedRedis } from '../embedded-redis.ts';

const start = {
  'a server on a data directory': 'startTestRedis(process.argv[1])',
  'a plain server': 'startPlainRedis({ dir: process.argv[1] })',
};

test.each(Object.entries(start))('%s ends when its test process is killed', async (_, call) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'hp-orphan-'));
  const entry = new URL('./index.ts', import.meta.url).href;
  const program = `
    const { startTestRedis, startPlainRedis } = await import(${JSON.stringify(entry)});
    const { path, address, pid } = await ${call};
    console.log(JSON.stringify([path ?? address, pid]));
    setInterval(() => {}, 1000);
  `;
  const parent = spawn(process.execPath, ['--input-type=module', '-e', program, dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line] = (await once(createInterface({ input: parent.stdout }), 'line')) as [string];
    const [socket, pid] = JSON.parse(line) as [string, number];
    const client = new Redis(socket, { retryStrategy: () => null });
    expect(await client.ping()).toBe('PONG');
    expect(process.kill(pid, 0)).toBe(true);
    const closed = once(client, 'close');
    parent.kill('SIGKILL');
    await closed;
  } finally {
    parent.kill('SIGKILL');
    await stopEmbeddedRedis({ dataDir });
    await rm(dataDir, { recursive: true, force: true });
  }
});
