import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPlainRedis } from '@holdpoint/embedded-redis/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { isAlive, readSystemRecord, type SystemRecord } from '../system/index.ts';
import { call, type Running, start } from '../testing/cli.ts';

const readySchema = z.object({ address: z.url(), key_file: z.string(), workers: z.number(), redis: z.string() });

let root: string;
let env: Record<string, string>;
let started: Running[];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'hp-up-'));
  env = { HOLDPOINT_DATA: join(root, 'data'), HOLDPOINT_PORT: '0' };
  started = [];
});
afterEach(async () => {
  await call(['down'], env);
  for (const { child } of started) child.kill('SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

async function up(...more: string[]) {
  const running = start(['up', '--json', ...more], env);
  started.push(running);
  const ready = readySchema.parse(JSON.parse(await running.firstLine));
  return { ...running, ready, record: recorded() };
}

function recorded(): SystemRecord {
  const record = readSystemRecord(join(root, 'data'));
  if (record === undefined) throw new Error('no system is recorded');
  return record;
}

const redisPid = () => Number(readFileSync(join(root, 'data/redis/server.pid'), 'utf8'));
const lives = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
const answers = (address: string) =>
  fetch(`${address}/readyz`).then(
    ({ status }) => status === 200,
    () => false,
  );

it('starts every part once and stops every part', async () => {
  const { ready, record, child, ended } = await up('--workers', '2');
  expect(await answers(ready.address)).toBe(true);
  expect(record).toMatchObject({ pid: child.pid, address: ready.address });
  expect(record.children.map(({ name }) => name)).toEqual(['api', 'worker-1', 'worker-2']);
  expect(record.children.every(isAlive)).toBe(true);
  const modes = ['data', 'data/api-key', 'data/up.json', 'data/logs/api.log'].map(
    (path) => statSync(join(root, path)).mode & 0o777,
  );
  expect(modes.map((mode) => mode.toString(8))).toEqual(['700', '600', '600', '600']);

  const second = await call(['up', '--json'], env);
  expect(second.code).toBe(0);
  expect(JSON.parse(second.stdout)).toMatchObject({ already_running: true, pid: child.pid, address: ready.address });
  expect(recorded()).toEqual(record);

  const redis = redisPid();
  expect(lives(redis)).toBe(true);
  child.kill('SIGTERM');
  expect(await ended).toMatchObject({ code: 0, stderr: expect.stringContaining('nothing is lost') });
  expect(record.children.filter(isAlive)).toEqual([]);
  await expect.poll(() => lives(redis), { timeout: 10_000 }).toBe(false);
  expect(readSystemRecord(join(root, 'data'))).toBeUndefined();
  expect(readFileSync(join(root, 'data/logs/worker-1.log'), 'utf8')).toContain('worker draining');
});

it('survives a killed `up` and API without a second set of processes', async () => {
  const first = await up();
  const redis = redisPid();
  first.child.kill('SIGKILL');
  await first.ended;
  expect(first.record.children.every(isAlive)).toBe(true);
  // The parts that are left still answer.
  expect((await call(['runs', 'list', '--json'], env)).code).toBe(0);

  const second = await up();
  expect(first.record.children.filter(isAlive)).toEqual([]);
  expect(redisPid()).toBe(redis);
  expect(second.ready.redis).toContain('found running');

  const api = () => recorded().children.find(({ name }) => name === 'api')?.pid ?? 0;
  const killed = api();
  process.kill(killed, 'SIGKILL');
  await expect.poll(api, { timeout: 20_000 }).not.toBe(killed);
  await expect.poll(() => answers(second.ready.address), { timeout: 20_000 }).toBe(true);

  second.child.kill('SIGKILL');
  await second.ended;
  const { children } = recorded();
  const down = await call(['down', '--json'], env);
  expect(JSON.parse(down.stdout)).toEqual({
    stopped: true,
    up: false,
    left_over: 2,
    left_over_redis: true,
    mounted_trees: 0,
  });
  expect(children.filter(isAlive)).toEqual([]);
  await expect.poll(() => lives(redis), { timeout: 10_000 }).toBe(false);
});

it('`down` stops a running system, and succeeds without one', async () => {
  // The key of another system must not matter here.
  env = { ...env, HOLDPOINT_KEY: 'hp_of_another_system' };
  const { ended, record } = await up();
  const down = await call(['down', '--json'], env);
  expect(JSON.parse(down.stdout)).toEqual({
    stopped: true,
    up: true,
    left_over: 0,
    left_over_redis: false,
    mounted_trees: 0,
  });
  expect((await ended).code).toBe(0);
  expect(record.children.filter(isAlive)).toEqual([]);
  expect(await call(['down', '--json'], env)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('"stopped":false'),
  });
});

it('says what to do when the port is taken', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  try {
    const { code, stdout, stderr } = await call(['up', '--json'], { ...env, HOLDPOINT_PORT: String(port) });
    expect(code).toBe(8);
    expect(JSON.parse(stdout)).toMatchObject({
      error: { code: 'port_taken', next: expect.stringContaining('HOLDPOINT_PORT') },
    });
    expect(stderr).toContain(String(port));
    expect(readSystemRecord(join(root, 'data'))).toBeUndefined();
    expect(JSON.parse((await call(['down', '--json'], env)).stdout)).toMatchObject({ stopped: false });
  } finally {
    server.close();
  }
});

it('reports a REDIS_URL that does not answer without its password', async () => {
  const { code, stderr } = await call(['up'], { ...env, REDIS_URL: 'redis://me:secret@127.0.0.1:1' });
  expect(code).toBe(1);
  expect(stderr).toContain('Redis does not answer at redis://me:***@127.0.0.1:1');
  expect(stderr).not.toContain('secret');
});

it('rejects a Redis that would lose runs and says what to set', async () => {
  const redis = await startPlainRedis({ appendonly: 'no' });
  try {
    const { code, stdout } = await call(['up', '--json'], { ...env, REDIS_URL: redis.address });
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      error: { code: 'redis_unsuitable', next: expect.stringContaining('CONFIG SET appendonly yes') },
    });
    expect(readSystemRecord(join(root, 'data'))).toBeUndefined();
  } finally {
    await redis.stop();
  }
});
