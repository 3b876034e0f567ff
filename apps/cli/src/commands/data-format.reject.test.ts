import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PlainRedis, startPlainRedis } from '@holdpoint/embedded-redis/testing';
import { dataFormat } from '@holdpoint/engine/installation';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { call, start } from '../testing/cli.ts';

const id = '0123abcd-0000-4000-8000-000000000000';

let dataDir: string;
let redis: PlainRedis;
let env: Record<string, string>;
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'hp-format-'));
  redis = await startPlainRedis({ appendonly: 'yes', appendfsync: 'always' });
  env = { HOLDPOINT_DATA: dataDir, HOLDPOINT_PORT: '0', REDIS_URL: redis.address };
});
afterEach(async () => {
  await redis.stop();
  rmSync(dataDir, { recursive: true });
});

/** A data directory and a Redis with a run, as a version made them. */
async function writeData(record: object, inRedis: object | undefined): Promise<void> {
  mkdirSync(join(dataDir, 'runs/run_1'), { recursive: true });
  writeFileSync(join(dataDir, 'installation'), JSON.stringify({ id, ...record }));
  await redis.admin.set('hp:installation', id);
  if (inRedis !== undefined) await redis.admin.set('hp:format', JSON.stringify(inRedis));
}

const contents = async () => [
  readdirSync(dataDir),
  readFileSync(join(dataDir, 'installation'), 'utf8'),
  (await redis.admin.keys('*')).sort(),
  await redis.admin.get('hp:format'),
];

async function refusedByAll(code: string, next: string): Promise<void> {
  const before = await contents();
  for (const args of [['up'], ['adopt', '--yes'], ['migrate', '--yes']]) {
    const { code: exit, stdout } = await call([...args, '--json'], env);
    expect([args[0], exit]).toEqual([args[0], 1]);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code, next: expect.stringContaining(next) } });
  }
  for (const program of ['api', 'worker']) {
    const ended = await start([program], env).ended;
    expect([program, ended.code]).toEqual([program, 1]);
    expect(ended.stdout + ended.stderr).toContain(next);
  }
  expect(await contents()).toEqual(before);
  const { stdout } = await call(['doctor', '--json'], env);
  expect(JSON.parse(stdout).findings).toContainEqual(
    expect.objectContaining({ name: 'installation', level: 'fail', next: expect.stringContaining(next) }),
  );
}

it('refuses data without a format number, in every program', async () => {
  await writeData({ format: 1 }, undefined);
  await refusedByAll('format_missing', 'set HOLDPOINT_DATA to a new directory');
});

it('refuses data of a newer version, in every program', async () => {
  await writeData({ data_format: dataFormat + 1 }, { data_format: dataFormat + 1 });
  await refusedByAll('format_newer', 'Start the newer version');
});

it('refuses such a data directory before it starts the embedded Redis', async () => {
  await writeData({ format: 1 }, undefined);
  const { stdout } = await call(['up', '--json'], { ...env, REDIS_URL: '' });
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'format_missing' } });
  expect(readdirSync(dataDir).sort()).toEqual(['installation', 'runs']);
});

it('has nothing to migrate in data of this version', async () => {
  await writeData({ data_format: dataFormat }, { data_format: dataFormat });
  const { code, stdout } = await call(['migrate', '--yes', '--json'], env);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual({ format: dataFormat, migrated: false, migrations: [] });
});
