import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@holdpoint/client';
import type { EmbeddedRedis } from '@holdpoint/embedded-redis';
import { startTestRedis } from '@holdpoint/embedded-redis/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { keyFileOf, readKey } from '../connection.ts';
import { type Running, start } from '../testing/cli.ts';

let dataDir: string;
let redis: EmbeddedRedis | undefined;
let started: Running[];
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'hp-foreground-'));
  started = [];
});
afterEach(async () => {
  for (const { child } of started) child.kill('SIGKILL');
  await redis?.stop();
  redis = undefined;
  rmSync(dataDir, { recursive: true, force: true });
});

function run(command: 'api' | 'worker', more: Record<string, string> = {}): Running {
  const running = start([command], { HOLDPOINT_DATA: dataDir, HOLDPOINT_PORT: '0', ...more });
  started.push(running);
  return running;
}

it('`api` and `worker` use the embedded Redis of the data directory', async () => {
  redis = await startTestRedis(dataDir);
  const api = run('api');
  const { address } = JSON.parse(await api.firstLine) as { address: string };
  const worker = run('worker');
  const client = createClient({ baseUrl: address, key: readKey(keyFileOf({ dataDir })) });
  const workers = () => client.ready().then(({ workers }) => workers);
  await expect.poll(workers, { timeout: 30_000 }).toBe(1);
  expect((await client.listWorkers())[0]?.pid).toBe(worker.child.pid);
  worker.child.kill('SIGTERM');
  expect(await worker.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing is lost') });
  await client.close();
  api.child.kill('SIGINT');
  expect((await api.ended).code).toBe(0);
});

it.each(['api', 'worker'] as const)('`%s` says what to do where the embedded Redis does not run', async (command) => {
  const { code, stdout, stderr } = await run(command).ended;
  expect(code).toBe(1);
  expect(stdout + stderr).toContain(`the embedded Redis of ${dataDir} does not run`);
  expect(stdout + stderr).toContain('npm start');
});
