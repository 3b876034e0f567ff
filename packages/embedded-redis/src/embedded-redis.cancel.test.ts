import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { stopEmbeddedRedis } from './embedded-redis.ts';
import { startTestRedis } from './testing/test-redis.ts';

let dataDir: string;

beforeEach(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'holdpoint-redis-'));
});
afterEach(async () => {
  await stopEmbeddedRedis({ dataDir });
  await rm(dataDir, { recursive: true, force: true });
});

const start = () => startTestRedis(dataDir);

test('ends the server and keeps what was written', async () => {
  const server = await start();
  const client = new Redis(server.path, { retryStrategy: () => null });
  await client.rpush('list', 'a', 'b');
  client.disconnect();
  await server.stop();
  expect(existsSync(server.path)).toBe(false);
  const again = await start();
  expect(again.reused).toBe(false);
  const reader = new Redis(again.path, { retryStrategy: () => null });
  expect(await reader.lrange('list', 0, -1)).toEqual(['a', 'b']);
  reader.disconnect();
});

test('says whether there was one to end, and may be asked twice', async () => {
  await start();
  expect(await stopEmbeddedRedis({ dataDir })).toBe(true);
  expect(await stopEmbeddedRedis({ dataDir })).toBe(false);
  expect(await stopEmbeddedRedis({ dataDir: path.join(dataDir, 'nowhere') })).toBe(false);
});
