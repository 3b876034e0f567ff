import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findRedis, findRunningRedis } from './find-redis.ts';

function makeDataDir(): string {
  const dataDir = realpathSync(mkdtempSync(join(tmpdir(), 'hp-find-redis-')));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  return dataDir;
}

test('REDIS_URL comes first; without it the embedded server is meant', async () => {
  const dataDir = makeDataDir();
  expect(await findRedis({ redisUrl: 'redis://host', dataDir })).toEqual({ address: 'redis://host', embedded: false });
  for (const redisUrl of [undefined, '']) {
    const socket = join(dataDir, 'redis.sock');
    expect(await findRedis({ redisUrl, dataDir })).toEqual({ address: socket, embedded: true });
  }
});

test('an embedded server that does not run is named with what to do', async () => {
  const dataDir = makeDataDir();
  await expect(findRunningRedis({ redisUrl: undefined, dataDir })).rejects.toMatchObject({
    code: 'redis_not_running',
    message: expect.stringContaining(dataDir),
    next: expect.stringContaining('npm start'),
  });
});
