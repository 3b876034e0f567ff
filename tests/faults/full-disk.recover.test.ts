import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createClient } from '@holdpoint/client/client';
import { startPlainRedis } from '@holdpoint/embedded-redis/testing';
import { openWorkspaces } from '@holdpoint/workspace/open-workspaces';
import pino from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type AppProcess, projectDir, startApp } from '../harness/processes.ts';
import { bash, finished, nextApproval, plan } from '../harness/runs.ts';
import { mountSmallDisk, type SmallDisk } from '../harness/small-disk.ts';
import { until } from '../harness/until.ts';

const mebibyte = 1024 * 1024;
let disk: SmallDisk | undefined;
let up: ChildProcess | undefined;
beforeEach(async () => {
  disk = await mountSmallDisk(128);
});
afterEach(async () => {
  disk?.empty();
  if (up !== undefined && up.exitCode === null) {
    const gone = once(up, 'exit');
    up.kill('SIGTERM');
    await gone;
  }
  up = undefined;
  await disk?.[Symbol.asyncDispose]();
});

/** Settings of a user reach no test. */
const environment = (more: Record<string, string>): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  HOME: process.env.HOME ?? '',
  NODE_COMPILE_CACHE: join(projectDir, '.cache/compiled'),
  ...more,
});

async function startUp(dataDir: string) {
  const child = spawn(process.execPath, [join(projectDir, 'apps/cli/src/main.ts'), 'up', '--json'], {
    env: environment({
      HOLDPOINT_DATA: dataDir,
      HOLDPOINT_PORT: '0',
      HOLDPOINT_FREE_BYTES: String(24 * mebibyte),
      HOLDPOINT_RESERVE_BYTES: String(8 * mebibyte),
      HOLDPOINT_LOCK_MS: '2000',
      HOLDPOINT_STALLED_MS: '1000',
      HOLDPOINT_SWEEP_MS: '1000',
      HOLDPOINT_DRAIN_MS: '500',
    }),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  up = child;
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const { address, key_file } = JSON.parse(String(line)) as { address: string; key_file: string };
  return { child, client: createClient({ baseUrl: address, key: readFileSync(key_file, 'utf8').trim() }) };
}

test('a full disk stops new work and ends nothing; with space again all of it continues by itself', async (context) => {
  if (disk === undefined) return context.skip('no file system can be mounted here');
  const { fillTo, empty, directory } = disk;
  const dataDir = join(directory, 'data');
  const { child, client } = await startUp(dataDir);
  const reserve = join(dataDir, 'reserve');
  await until('the reserve is there', () => existsSync(reserve));
  const task = { ...plan([bash('echo once >> counter')], [bash('cat counter')]) };
  const policy = { rules: [{ match: { tool: 'bash' }, action: 'hold' as const }] };
  const { run } = await client.createRun({ plan: { groups: task.groups.slice(0, 1) }, policy });
  const approval = await nextApproval(client, run.id);

  fillTo(16 * mebibyte);
  const log = () => readFileSync(join(dataDir, 'logs/worker-1.log'), 'utf8');
  await until('the worker takes no work', () => log().includes('disk space is low'));
  await until('the API is not ready', () =>
    client.ready().then(
      () => false,
      (error: { code?: string }) => error.code === 'storage_full',
    ),
  );
  await expect(client.createRun({ plan: task })).rejects.toMatchObject({
    code: 'storage_full',
    status: 507,
    next: expect.stringContaining('Free space'),
  });
  expect(existsSync(reserve)).toBe(true);
  await client.decideApproval(approval.id, { decision: 'approve', action_digest: approval.action_digest });

  // Twice: the first time it makes `up` give up the reserve, which is then filled, too.
  fillTo(0);
  await until('the reserve is given up', () => !existsSync(reserve));
  await until('Redis is refused its writes, and gone', async () => {
    fillTo(0);
    return client.ready().then(
      () => false,
      (error: { code?: string }) => error.code === 'unavailable',
    );
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
    {
      withinMs: 60_000,
    },
  );
  await until('the reserve is there again', () => existsSync(reserve));
  expect(await finished(client, run.id)).toMatchObject({ status: 'succeeded' });
  const [step] = (await client.listSteps(run.id)).data;
  expect(Date.parse(step?.started_at ?? '')).toBeGreaterThanOrEqual(freed);
  expect(step?.attempts).toBe(1);
  const next = await client.createRun({ plan: task });
  const last = await finished(client, next.run.id);
  expect(last.status).toBe('succeeded');
  expect(child.exitCode).toBeNull();
  await client.close();
});

test('what meets a full disk says so', async (context) => {
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
    // Larger than what fits into the log, so that it goes to the blob store on the full disk.
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
