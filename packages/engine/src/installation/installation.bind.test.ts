import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { installationKey, runIndex } from '../log/keys.ts';
import { startTestEngine, type TestEngine } from '../testing/real-redis.ts';
import { adoptInstallation, bindInstallation } from './installation.ts';
import { confirmInstallation } from './watch-installation.ts';

let engine: TestEngine;
let dataDir: string;
beforeAll(async () => {
  engine = await startTestEngine();
});
afterAll(() => engine.stop());
beforeEach(async () => {
  await engine.deps.redis.flushall();
  dataDir = mkdtempSync(join(tmpdir(), 'hp-installation-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const sides = () => ({ redis: engine.deps.redis, dataDir });
const addRun = () => mkdirSync(join(dataDir, 'runs/run_1'), { recursive: true });
const idInRedis = () => engine.deps.redis.get(installationKey);

/** Refused, and neither side was changed. */
async function refused(code: string): Promise<void> {
  const before = [readdirSync(dataDir), await idInRedis()];
  await expect(bindInstallation(sides())).rejects.toMatchObject({ code, retryable: false });
  expect([readdirSync(dataDir), await idInRedis()]).toEqual(before);
}

test('two new sides are bound at the first start, and found bound at the next', async () => {
  const id = await bindInstallation(sides());
  expect(await idInRedis()).toBe(id);
  addRun();
  expect(await bindInstallation(sides())).toBe(id);
});

test('processes that start at once agree on one installation', async () => {
  const ids = await Promise.all(Array.from({ length: 20 }, () => bindInstallation(sides())));
  expect(new Set(ids).size).toBe(1);
  expect(readdirSync(dataDir)).toEqual(['installation']);
});

test('a first start that died between its two halves is completed', async () => {
  const id = await bindInstallation(sides());
  await engine.deps.redis.del(installationKey);
  expect(await bindInstallation(sides())).toBe(id);
});

test('a file that a power failure left blank counts as none', async () => {
  writeFileSync(join(dataDir, 'installation'), '');
  const id = await bindInstallation(sides());
  expect(JSON.parse(readFileSync(join(dataDir, 'installation'), 'utf8'))).toEqual({ format: 1, id });
});

test('an empty Redis is refused where the data directory has runs, bound before or not', async () => {
  addRun();
  await refused('installation_redis_missing');
  rmSync(join(dataDir, 'runs'), { recursive: true });
  await bindInstallation(sides());
  addRun();
  await engine.deps.redis.flushall();
  await refused('installation_redis_missing');
});

test('the Redis of another installation is refused, also by an empty data directory', async () => {
  await engine.deps.redis.set(installationKey, 'another');
  await refused('installation_data_missing');
  await engine.deps.redis.del(installationKey);
  await bindInstallation(sides());
  await engine.deps.redis.set(installationKey, 'another');
  await refused('installation_mismatch');
});

test('a Redis with runs is refused by a new data directory', async () => {
  await engine.deps.redis.zadd(runIndex, 0, 'run_1');
  await refused('installation_data_missing');
});

test('a file that names no installation is refused, and not replaced', async () => {
  writeFileSync(join(dataDir, 'installation'), '{"format":2}');
  await refused('installation_unreadable');
});

test('adopted, two sides belong together, and the former partner of this Redis does not any more', async () => {
  addRun();
  const id = await adoptInstallation(sides());
  expect(await bindInstallation(sides())).toBe(id);
  const other = mkdtempSync(join(tmpdir(), 'hp-installation-'));
  await adoptInstallation({ redis: engine.deps.redis, dataDir: other });
  await refused('installation_mismatch');
  rmSync(other, { recursive: true });
});

test('a Redis that is emptied or replaced under a running process is noticed', async () => {
  const id = await bindInstallation(sides());
  await confirmInstallation(engine.deps.redis, id);
  await engine.deps.redis.flushall();
  await expect(confirmInstallation(engine.deps.redis, id)).rejects.toMatchObject({ code: 'installation_lost' });
  await engine.deps.redis.set(installationKey, 'another');
  await expect(confirmInstallation(engine.deps.redis, id)).rejects.toMatchObject({ code: 'installation_lost' });
});
