import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PlainRedis, startPlainRedis } from '@holdpoint/embedded-redis/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readConfig } from '../shell/index.ts';
import { checkRedis } from './check-redis.ts';
import type { Finding } from './finding.ts';

let dataDir: string;
let redis: PlainRedis | undefined;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'hp-doctor-redis-'));
});
afterEach(async () => {
  await redis?.stop();
  redis = undefined;
  rmSync(dataDir, { recursive: true, force: true });
});

const find = (env: Record<string, string>, isUp = false): Promise<Finding[]> =>
  checkRedis(readConfig({ HOLDPOINT_DATA: dataDir, PATH: process.env.PATH, ...env }, '/'), isUp);

it('a server that refuses writes fails with the reason', async () => {
  redis = await startPlainRedis({ appendonly: 'yes', appendfsync: 'always' });
  const writes = async () =>
    (await find({ REDIS_URL: redis?.address ?? '' })).find(({ name }) => name === 'redis writes');
  expect(await writes()).toMatchObject({ level: 'ok' });
  await redis.admin.config('SET', 'maxmemory', '1');
  expect(await writes()).toMatchObject({ level: 'fail', text: expect.stringContaining('memory is full') });
});

it('advice on a silent embedded server does not name REDIS_URL', async () => {
  const [finding] = await find({}, true);
  expect(finding).toMatchObject({ level: 'fail', text: expect.stringContaining('no answer from') });
  expect(finding?.next).not.toContain('REDIS_URL');
  expect(finding?.next).toContain('server.log');
});

it('without a running system, `up` will start the embedded server', async () =>
  expect((await find({}))[0]).toMatchObject({ level: 'ok', text: expect.stringContaining('`up`') }));
