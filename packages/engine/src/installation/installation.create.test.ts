import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { formatKey, installationKey, runIndex } from '../log/keys.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { adoptInstallation, bindInstallation } from './installation.ts';
import { pendingMigrations } from './migrations/migrate.ts';
import { dataFormat } from './migrations/migrations.ts';
import { confirmInstallation, readInstallation, watchInstallation } from './record.ts';

const engine = useTestEngine();
let dataDir: string;
beforeEach(async () => {
  await engine.deps.redis.flushall();
  dataDir = mkdtempSync(join(tmpdir(), 'hp-installation-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const sides = () => ({ redis: engine.deps.redis, dataDir });
const addRun = () => mkdirSync(join(dataDir, 'runs/run_1'), { recursive: true });
const inRedis = () => engine.deps.redis.mget(installationKey, formatKey);
const fileText = () => (existsSync(file()) ? readFileSync(file(), 'utf8') : undefined);
const file = () => join(dataDir, 'installation');
const setInRedis = (id: string, format: object) =>
  engine.deps.redis.mset(installationKey, id, formatKey, JSON.stringify(format));
const someId = '0123abcd-0000-4000-8000-000000000000';

/** A refusal changes neither side. */
async function refused(code: string, by = bindInstallation): Promise<void> {
  const before = [readdirSync(dataDir), fileText(), await inRedis()];
  await expect(by(sides())).rejects.toMatchObject({ code, retryable: false, next: expect.stringMatching(/\.$/) });
  expect([readdirSync(dataDir), fileText(), await inRedis()]).toEqual(before);
}

test('binds two new sides at the first start, with the current format', async () => {
  const id = await bindInstallation(sides());
  expect(await inRedis()).toEqual([id, `{"data_format":${dataFormat}}`]);
  expect(JSON.parse(fileText() ?? '')).toEqual({ id, data_format: dataFormat, home: dataDir });
  addRun();
  expect(await bindInstallation(sides())).toBe(id);
});

test('binds one installation when many processes start at once', async () => {
  const ids = await Promise.all(Array.from({ length: 20 }, () => bindInstallation(sides())));
  expect(new Set(ids).size).toBe(1);
  expect(readdirSync(dataDir)).toEqual(['installation']);
});

test('completes a first start that died between its two halves', async () => {
  const id = await bindInstallation(sides());
  await engine.deps.redis.del(installationKey, formatKey);
  expect(await bindInstallation(sides())).toBe(id);
});

test('replaces a file that a power failure left blank', async () => {
  writeFileSync(file(), '');
  const id = await bindInstallation(sides());
  expect(JSON.parse(fileText() ?? '')).toEqual({ data_format: dataFormat, id, home: dataDir });
});

test('refuses an empty Redis when the data directory has runs', async () => {
  await bindInstallation(sides());
  addRun();
  await engine.deps.redis.flushall();
  await refused('installation_redis_missing');
});

test('refuses the Redis of another installation, also with an empty data directory', async () => {
  await setInRedis('another', { data_format: dataFormat });
  await refused('installation_data_missing');
  await engine.deps.redis.del(installationKey, formatKey);
  await bindInstallation(sides());
  await setInRedis('another', { data_format: dataFormat });
  await refused('installation_mismatch');
});

test('records where the data directory lies, also when it has moved', async () => {
  const id = await bindInstallation(sides());
  const record = () => JSON.parse(fileText() ?? '');
  writeFileSync(file(), JSON.stringify({ id, data_format: dataFormat }));
  await bindInstallation(sides());
  expect(record().home).toBe(dataDir);
  writeFileSync(file(), JSON.stringify({ ...record(), home: join(dataDir, 'former place') }));
  await bindInstallation(sides());
  expect(record()).toEqual({ id, data_format: dataFormat, home: dataDir });
});

test('refuses a copy while the original is there, and no other directory', async () => {
  await bindInstallation(sides());
  const original = dataDir;
  const copy = mkdtempSync(join(tmpdir(), 'hp-installation-'));
  cpSync(original, copy, { recursive: true });
  dataDir = copy;
  await refused('installation_copied');
  await refused('installation_copied', adoptInstallation);
  renameSync(original, `${original}-moved`);
  await bindInstallation(sides());
  rmSync(`${original}-moved`, { recursive: true });
});

test.runIf(process.platform === 'linux')(
  'refuses a copy while programs work on a directory of unknown place',
  async () => {
    const id = await bindInstallation(sides());
    const original = dataDir;
    const at = { redis: engine.deps.redis, dataDir: original, id };
    const watches = [watchInstallation(at, () => {}), watchInstallation(at, () => {})];
    dataDir = mkdtempSync(join(tmpdir(), 'hp-installation-'));
    writeFileSync(file(), JSON.stringify({ id, data_format: dataFormat }));
    const isRefused = () =>
      bindInstallation(sides()).then(
        () => false,
        ({ code }) => code === 'installation_copied',
      );
    await expect.poll(isRefused, { timeout: 10_000 }).toBe(true);
    expect(await bindInstallation({ ...sides(), dataDir: original })).toBe(id);
    watches.shift()?.stop();
    expect(await isRefused()).toBe(true);
    watches.shift()?.stop();
    await expect.poll(isRefused, { timeout: 10_000 }).toBe(false);
    rmSync(original, { recursive: true });
  },
);

test('refuses a file that names no installation', async () => {
  writeFileSync(file(), '{"format":2}');
  await refused('installation_unreadable');
});

describe('the data format', () => {
  const newer = { data_format: dataFormat + 1 };
  const unfinished = { data_format: dataFormat, migrating_to: dataFormat + 1 };
  const addToFile = (fields: object) => writeFileSync(file(), JSON.stringify({ id: someId, ...fields }));

  test.each([
    ['no number in the data directory', { format: 1 }, { data_format: dataFormat }, 'format_missing'],
    ['a newer data directory', newer, newer, 'format_newer'],
    ['an unfinished migration', unfinished, { data_format: dataFormat }, 'format_newer'],
    ['one side restored', { data_format: dataFormat }, newer, 'format_mismatch'],
  ])('refuses %s', async (_name, inFile, inRedis, code) => {
    addToFile(inFile);
    await setInRedis(someId, inRedis);
    await refused(code);
    await refused(code, adoptInstallation);
  });

  test('refuses a Redis without a number, and adopts it neither', async () => {
    await bindInstallation(sides());
    await engine.deps.redis.del(formatKey);
    await refused('format_missing');
    await refused('format_missing', adoptInstallation);
  });

  test('refuses runs without any number, adopts and migrates them neither', async () => {
    const byAll = async () => {
      await refused('format_missing');
      await refused('format_missing', adoptInstallation);
      await refused('format_missing', async (of) => String(pendingMigrations(await readInstallation(of))));
    };
    addRun();
    await byAll();
    rmSync(join(dataDir, 'runs'), { recursive: true });
    await engine.deps.redis.zadd(runIndex, 0, 'run_1');
    await byAll();
    // A side of an installation without its number.
    addToFile({ data_format: dataFormat });
    await byAll();
  });

  test('refuses a number in Redis that cannot be read', async () => {
    await engine.deps.redis.mset(installationKey, someId, formatKey, 'one');
    await refused('installation_unreadable');
  });
});

test('adopts a data directory that lost its file, and unbinds the former one', async () => {
  addRun();
  await setInRedis('another', { data_format: dataFormat });
  const id = await adoptInstallation(sides());
  expect(await bindInstallation(sides())).toBe(id);
  const other = mkdtempSync(join(tmpdir(), 'hp-installation-'));
  await adoptInstallation({ redis: engine.deps.redis, dataDir: other });
  await refused('installation_mismatch');
  rmSync(other, { recursive: true });
});

test('reports a Redis that is emptied, replaced or migrated under a running process', async () => {
  const id = await bindInstallation(sides());
  await confirmInstallation(engine.deps.redis, id);
  await setInRedis(id, { data_format: dataFormat + 1 });
  await expect(confirmInstallation(engine.deps.redis, id)).rejects.toMatchObject({ code: 'installation_lost' });
  await engine.deps.redis.flushall();
  await expect(confirmInstallation(engine.deps.redis, id)).rejects.toMatchObject({ code: 'installation_lost' });
  await engine.deps.redis.set(installationKey, 'another');
  await expect(confirmInstallation(engine.deps.redis, id)).rejects.toMatchObject({ code: 'installation_lost' });
});
