import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@holdpoint/client';
import { startPlainRedis } from '@holdpoint/embedded-redis/testing';
import { openWorkspaces } from '@holdpoint/workspace';
import pino from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  type AppProcess,
  approve,
  bash,
  finished,
  mountSmallDisk,
  nextApproval,
  plan,
  readiness,
  type SmallDisk,
  startApp,
  startUp,
  type Up,
  until,
} from '../harness/index.ts';

const mebibyte = 1024 * 1024;
let disk: SmallDisk | undefined;
let up: Up | undefined;
beforeEach(async () => {
  disk = await mountSmallDisk(128);
});
afterEach(async () => {
  disk?.empty();
  await up?.[Symbol.asyncDispose]();
  up = undefined;
  await disk?.[Symbol.asyncDispose]();
});

test('a full disk stops new work only; with free space everything continues', async (context) => {
  if (disk === undefined) return context.skip('no file system can be mounted here');
  const { fillTo, empty, directory } = disk;
  const dataDir = join(directory, 'data');
  up = await startUp(dataDir, {
    HOLDPOINT_FREE_BYTES: String(24 * mebibyte),
    HOLDPOINT_RESERVE_BYTES: String(8 * mebibyte),
    HOLDPOINT_LOCK_MS: '2000',
    HOLDPOINT_STALLED_MS: '1000',
  });
  const { child, client } = up;
  const reserve = join(dataDir, 'reserve');
  await until('the reserve exists', () => existsSync(reserve));
  const counting = plan([bash('echo once >> counter')], [bash('cat counter')]);
  const policy = { rules: [{ match: { tool: 'bash' }, action: 'hold' as const }] };
  const { run } = await client.createRun({ plan: { groups: counting.groups.slice(0, 1) }, policy });
  const approval = await nextApproval(client, run.id);

  fillTo(16 * mebibyte);
  const log = () => readFileSync(join(dataDir, 'logs/worker-1.log'), 'utf8');
  await until('the worker takes no work', () => log().includes('disk space is low'));
  await until('the API is not ready', async () => (await readiness(client)) === 'storage_full');
  await expect(client.createRun({ plan: counting })).rejects.toMatchObject({
    code: 'storage_full',
    status: 507,
    next: expect.stringContaining('Free space'),
  });
  expect(existsSync(reserve)).toBe(true);
  await approve(client, approval);

  // The first fill makes `up` remove the reserve, so that space is filled, too.
  fillTo(0);
  await until('the reserve is removed', () => !existsSync(reserve));
  await until('Redis cannot write and is gone', async () => {
    fillTo(0);
    return (await readiness(client)) === 'unavailable';
  });
  expect(child.exitCode).toBeNull();

  const freed = Date.now();
  empty();
  await until(
    'the system is ready',
    () =>
      client.ready().then(
        ({ workers }) => workers === 1,
        () => false,
      ),
    { withinMs: 60_000 },
  );
  await until('the reserve exists again', () => existsSync(reserve));
  expect(await finished(client, run.id)).toMatchObject({ status: 'succeeded' });
  const [step] = (await client.listSteps(run.id)).data;
  expect(Date.parse(step?.started_at ?? '')).toBeGreaterThanOrEqual(freed);
  expect(step?.attempts).toBe(1);
  const next = await client.createRun({ plan: counting });
  const last = await finished(client, next.run.id);
  expect(last.status).toBe('succeeded');
  expect(child.exitCode).toBeNull();
  await client.close();
});

test('the API and the workspace report a full disk', async (context) => {
  if (disk === undefined) return context.skip('no file system can be mounted here');
  const redis = await startPlainRedis({ appendonly: 'yes', appendfsync: 'always' });
  let api: AppProcess | undefined;
  try {
    const dataDir = join(disk.directory, 'data');
    api = await startApp({
      entry: 'apps/api/src/main.ts',
      env: {
        HOLDPOINT_DATA: dataDir,
        HOLDPOINT_PORT: '0',
        HOLDPOINT_FREE_BYTES: '0',
        HOLDPOINT_RESERVE_BYTES: '0',
        REDIS_URL: redis.address,
      },
      logFile: `${disk.directory}.api.log`,
      isReady: (line) => line.event === 'listening',
    });
    const key = readFileSync(join(dataDir, 'api-key'), 'utf8').trim();
    const client = createClient({ baseUrl: String(api.ready.address), key });
    const workspaces = openWorkspaces({
      dataDir,
      logger: pino({ level: 'silent' }),
      allocateOwner: () => ({ uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }),
    });
    disk.fillTo(0);
    // Too large for the log, so it goes to the blob store on the full disk.
    const large = plan(Array.from({ length: 40 }, () => bash(`: ${'x'.repeat(1000)}`)));
    await expect(client.createRun({ plan: large })).rejects.toMatchObject({ code: 'storage_full', status: 507 });
    await expect(workspaces.materialise({ runId: 'run_x', source: { type: 'empty' } })).rejects.toMatchObject({
      code: 'ENOSPC',
    });
    await client.close();
  } finally {
    await api?.signal('SIGTERM');
    await redis.stop();
  }
});
