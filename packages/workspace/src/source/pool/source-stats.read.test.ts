import { mkdtempSync, readFileSync, rmSync, statfsSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { statOf } from '../../testing/status.ts';
import { openSourceStats } from './source-stats.ts';

const path = mkdtempSync(join(tmpdir(), 'holdpoint-stats-'));
afterAll(() => rmSync(path, { recursive: true }));
writeFileSync(join(path, 'file'), 'content');
const inMemory = statfsSync(path).type === 0x01021994;

const open = (isKnown: boolean) => openSourceStats({ folder: path, source: path, clock: join(path, 'clock'), isKnown });
const oid = 'a'.repeat(40);
const content = {
  ...{ tree: 'b'.repeat(40), empty: ['caf\xe9'] },
  permissions: { usual: { file: 0o600, executable: 0o700, folder: 0o700 }, others: new Map([['x\xff', 0o640]]) },
};
const hour = 3_600_000_000_000n;
const now = () => BigInt(Date.now()) * 1_000_000n;

test.skipIf(inMemory)('only a file whose last change is long past is learned', async () => {
  const stats = await open(false);
  const old = statOf(join(path, 'file'), { ctimeNs: now() - hour + 1n });
  const files = {
    ...{ old, young: statOf(join(path, 'file'), { ctimeNs: now() - 60_000_000_000n }) },
    ...{ now: statOf(join(path, 'file')), later: statOf(join(path, 'file'), { ctimeNs: now() + hour }) },
    elsewhere: statOf(join(path, 'file'), { ctimeNs: now() - hour + 1n, dev: 1n }),
  };
  for (const [name, status] of Object.entries(files)) stats?.learn(name, status.numbers, oid);
  await stats?.save(content);
  const read = await open(true);
  expect(read?.content).toEqual(content);
  expect(Object.keys(files).filter((name) => read?.known(name, files[name as 'old'].status) === oid)).toEqual(['old']);
  for (const field of ['size', 'mtimeNs', 'ctimeNs', 'ino', 'dev', 'mode'] as const) {
    expect(read?.known('old', { ...old.status, [field]: old.status[field] + 1n })).toBe(undefined);
  }
});

test.skipIf(inMemory)('a torn or changed file is not read', async () => {
  const stats = join(path, 'stats');
  await (await open(false))?.save(content);
  expect(await open(true)).not.toBe(undefined);
  const whole = readFileSync(stats);
  truncateSync(stats, whole.length - 1);
  expect(await open(true)).toBe(undefined);
  whole.writeUInt8((whole.at(-3) ?? 0) ^ 1, whole.length - 3);
  writeFileSync(stats, whole);
  expect(await open(true)).toBe(undefined);
});

test('a file system whose times prove nothing is not asked', async () => {
  expect(statSync('/proc').isDirectory()).toBe(true);
  const none = await openSourceStats({ folder: path, source: '/proc', clock: join(path, 'clock'), isKnown: false });
  expect(none).toBe(undefined);
});
