import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EmbeddedRedis } from '@holdpoint/embedded-redis';
import { startTestRedis } from '@holdpoint/embedded-redis/testing';
import { Redis } from 'ioredis';
import pino from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { formatKey, installationKey } from '../../log/keys.ts';
import { connect } from '../../redis/connect.ts';
import { upperCase } from '../../testing/upper-case-migration.ts';
import { checkFormat } from '../check-format.ts';
import { bindInstallation } from '../installation.ts';
import { readInstallation } from '../record.ts';
import { migrate, pendingMigrations } from './migrate.ts';
import { dataFormat, migrations } from './migrations.ts';

const program = fileURLToPath(new URL('../../testing/migrate-and-stop.ts', import.meta.url));
const logger = pino({ level: 'silent' });
const names = ['a', 'b', 'c'];
const next = dataFormat + 1;

let server: EmbeddedRedis;
let redis: Redis;
let dataDir: string;
beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'hp-migrate-'));
  server = await startTestRedis(dataDir);
  redis = new Redis(server.path);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
  rmSync(dataDir, { recursive: true });
});
/** A bound pair of the current format with three values on each side. */
beforeEach(async () => {
  await noPrograms();
  await redis.flushall();
  rmSync(join(dataDir, 'installation'), { force: true });
  await bindInstallation(sides());
  for (const name of names) {
    await redis.set(`value:${name}`, name);
    writeFileSync(join(dataDir, `value-${name}`), name);
  }
});

/** Redis closes the connections of an ended program a moment after its end. */
const noPrograms = () =>
  expect.poll(async () => String(await redis.client('LIST')), { timeout: 30_000 }).not.toContain(' name=holdpoint:');
const sides = () => ({ redis, dataDir });
const values = async () => [
  ...(await redis.mget(names.map((name) => `value:${name}`))),
  ...names.map((name) => readFileSync(join(dataDir, `value-${name}`), 'utf8')),
];
const records = async () => [
  readFileSync(join(dataDir, 'installation'), 'utf8'),
  await redis.mget(installationKey, formatKey),
];
const formats = async () => {
  const state = await readInstallation(sides());
  return [state.dataDir.format, state.redis.format];
};

async function migrateHere(known = [upperCase]): Promise<void> {
  const connections = connect(server.path, logger);
  await migrate({ connections, dataDir }, known).finally(() => connections.close());
}

/** @returns whether the process died after its n-th change of Redis; false: the process made fewer changes */
async function killAfter(changes: number): Promise<boolean> {
  const child = spawn(process.execPath, [program, server.path, dataDir, String(changes)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit');
  const stopped = await Promise.race([once(child, 'message').then(() => true), ended.then(() => false)]);
  child.kill('SIGKILL');
  await ended;
  await noPrograms();
  return stopped;
}

test('the listed migrations lead to the current format without a gap', () => {
  expect(migrations.map(({ from, to }) => [from, to])).toEqual(migrations.map((_, index) => [index + 1, index + 2]));
  expect(dataFormat).toBe(migrations.length + 1);
});

test('data of an older format is refused until it is migrated', async () => {
  await expect(async () => checkFormat(await readInstallation(sides()), next)).rejects.toMatchObject({
    code: 'format_older',
    next: expect.stringContaining('holdpoint migrate'),
  });
  await migrateHere();
  expect(await formats()).toEqual([{ data_format: next }, { data_format: next }]);
  expect(await values()).toEqual(['A', 'B', 'C', 'A', 'B', 'C']);
  checkFormat(await readInstallation(sides()), next);
  expect(pendingMigrations(await readInstallation(sides()), [upperCase])).toEqual([]);
});

test('several migrations run in order', async () => {
  const order: number[] = [];
  const steps = [0, 1, 2]
    .map((more) => dataFormat + more)
    .map((from) => ({ from, to: from + 1, title: '', run: async () => void order.push(from) }));
  await migrateHere(steps);
  expect(order).toEqual(steps.map(({ from }) => from));
  expect(await formats()).toEqual([{ data_format: dataFormat + 3 }, { data_format: dataFormat + 3 }]);
});

test('continues after kill -9 behind every single change of Redis', async () => {
  let changes = 1;
  for (; await killAfter(changes); changes++) {
    await expect(async () => checkFormat(await readInstallation(sides()), next)).rejects.toMatchObject({
      code: 'format_unfinished',
    });
    await expect(bindInstallation(sides())).rejects.toMatchObject({ code: 'format_newer' });
    await migrateHere();
    expect(await formats()).toEqual([{ data_format: next }, { data_format: next }]);
    expect(await values()).toEqual(['A', 'B', 'C', 'A', 'B', 'C']);
    // Back to the current format for the next round.
    await redis.mset(formatKey, `{"data_format":${dataFormat}}`, ...names.flatMap((name) => [`value:${name}`, name]));
    const { id } = JSON.parse(readFileSync(join(dataDir, 'installation'), 'utf8'));
    writeFileSync(join(dataDir, 'installation'), JSON.stringify({ id, data_format: dataFormat }));
    for (const name of names) writeFileSync(join(dataDir, `value-${name}`), name);
  }
  // The process of the last round ended without a kill, after eight changes.
  expect(changes).toBe(9);
  expect(await formats()).toEqual([{ data_format: next }, { data_format: next }]);
});

test('refuses while a program is connected, and changes nothing', async () => {
  const before = [await records(), await values()];
  const running = connect(server.path, logger);
  await running.state.ping();
  await expect(migrateHere()).rejects.toMatchObject({ code: 'installation_in_use' });
  expect([await records(), await values()]).toEqual(before);
  await running.close();
  await noPrograms();
  await migrateHere();
  expect(await values()).toEqual(['A', 'B', 'C', 'A', 'B', 'C']);
});

test('refuses data that no migration can change', async () => {
  const none = await readInstallation(sides());
  none.dataDir.format = undefined;
  expect(() => pendingMigrations(none, [upperCase])).toThrow(expect.objectContaining({ code: 'format_missing' }));
  const newer = await readInstallation(sides());
  for (const side of [newer.dataDir, newer.redis]) side.format = { data_format: dataFormat + 6 };
  expect(() => pendingMigrations(newer, [upperCase])).toThrow(expect.objectContaining({ code: 'format_newer' }));
  const other = await readInstallation(sides());
  other.redis.id = 'another';
  expect(() => pendingMigrations(other, [upperCase])).toThrow(
    expect.objectContaining({ code: 'installation_mismatch' }),
  );
});
