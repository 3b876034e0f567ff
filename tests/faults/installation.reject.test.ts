import { execFile } from 'node:child_process';
import { existsSync, readdirSync, utimesSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { EmbeddedRedis } from '@holdpoint/embedded-redis';
import { startTestRedis } from '@holdpoint/embedded-redis/testing';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { approve, bash, finished, nextApproval, plan, projectDir, until, useSystem } from '../harness/index.ts';

const execute = promisify(execFile);

const system = useSystem({ env: () => ({ HOLDPOINT_MAINTENANCE_MS: '1000' }), workers: 0 });
let directory: string;
let other: EmbeddedRedis;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hp-other-'));
  other = await startTestRedis(directory);
});
afterAll(async () => {
  await other.stop();
  await rm(directory, { recursive: true });
});

/** Makes a path two hours old: garbage collection spares younger ones. */
function age(path: string): void {
  const then = new Date(Date.now() - 2 * 3_600_000);
  utimesSync(path, then, then);
}

const blobsIn = () => readdirSync(join(system.dataDir, 'blobs'), { recursive: true }).length;

test('a worker refuses an empty Redis, says what to do, and removes nothing', async () => {
  const worker = await system.startWorker();
  const { run } = await system.client.createRun({
    plan: plan(
      [{ tool: 'write_file', args: { path: 'big.txt', content: 'x'.repeat(50_000) } }],
      [bash('echo kept > kept.txt')],
    ),
    policy: { rules: [{ match: { tool: 'bash' }, action: 'hold' }] },
  });
  await nextApproval(system.client, run.id);
  await worker.signal('SIGTERM');
  age(system.folder(run.id));
  const blobs = blobsIn();

  await expect(system.startWorker({ REDIS_URL: other.path })).rejects.toThrow('ended before it was ready');
  const logs = readdirSync(system.directory).filter((name) => name.startsWith('worker-'));
  const said = (await Promise.all(logs.map((name) => readFile(join(system.directory, name), 'utf8')))).join('');
  expect(said).toContain('this Redis belongs to no installation');
  expect(said).toContain('holdpoint adopt');
  expect(existsSync(system.folder(run.id))).toBe(true);
  expect(blobsIn()).toBe(blobs);

  // With the right Redis the run continues.
  await system.startWorker();
  await approve(system.client, await nextApproval(system.client, run.id));
  expect(await finished(system.client, run.id)).toMatchObject({ status: 'succeeded' });
});

test('`adopt` shows both sides and changes nothing unless asked', async () => {
  const env = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' };
  const runCli = (...args: string[]) =>
    execute(process.execPath, [join(projectDir, 'apps/cli/src/main.ts'), ...args], {
      env: { ...env, HOLDPOINT_DATA: system.dataDir, REDIS_URL: other.path },
    }).catch((error: { code: number; stdout: string; stderr: string }) => error);
  const shown = await runCli('adopt', '--json');
  expect(shown).toMatchObject({ code: 1 });
  const state = JSON.parse(shown.stdout);
  expect(state).toMatchObject({ bound: false, adopted: false, unknown: state.dataDir.runs, redis: { runs: 0 } });
  expect(state.dataDir.runs).toBeGreaterThan(0);
  const refused = await runCli('up');
  expect(refused).toMatchObject({ code: 1 });
  expect(refused.stderr).toContain('this Redis belongs to no installation');
  expect(JSON.parse((await runCli('adopt', '--json')).stdout)).toEqual(state);
});

test('when Redis becomes empty, its programs end and remove nothing', async () => {
  const redis = new Redis(system.redis.address);
  const worker = await system.startWorker();
  const runs = readdirSync(join(system.dataDir, 'runs'));
  for (const name of runs) age(join(system.dataDir, 'runs', name));
  await redis.flushall();
  await worker.gone;
  await until('the API has ended', () =>
    system.client.health().then(
      () => false,
      () => true,
    ),
  );
  expect(readdirSync(join(system.dataDir, 'runs'))).toEqual(runs);
  redis.disconnect();
});
