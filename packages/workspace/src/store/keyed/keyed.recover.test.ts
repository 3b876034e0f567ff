import {
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as anyTest, expect } from 'vitest';
import { entryAt, judge, make, testKind } from '../../testing/keyed-process.ts';
import { git } from '../../testing/real-git.ts';
import { createObjectWriter } from '../objects/index.ts';
import {
  createChecks,
  entriesOf,
  evictEntries,
  evictGroup,
  findDamagedPacks,
  noteUse,
  removeEntry,
  setAside,
} from './index.ts';

const test = anyTest.extend<{
  at: { dataDir: string; now: () => number; onPoint: () => void; clock: { now: number } };
}>({
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads the names of the fixtures that this one needs from the pattern.
  at: async ({}, use) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'holdpoint-keyed-'));
    const clock = { now: 1_700_000_000_000 };
    await use({ dataDir, clock, now: () => clock.now, onPoint: () => {} });
    rmSync(dataDir, { recursive: true });
  },
});

const keysIn = async (dataDir: string) =>
  (await entriesOf(dataDir, testKind)).map((entry) => entry.split('/').at(-1)).sort();

async function fill(
  at: Parameters<typeof make>[0] & { clock: { now: number } },
  keys: readonly string[],
): Promise<void> {
  for (const key of keys) {
    at.clock.now += 1000;
    await make(at, key);
  }
}

test('the least recently used entries go first, and a use counts', async ({ at }) => {
  await fill(at, ['a', 'b', 'c', 'd']);
  at.clock.now += 1000;
  expect(noteUse(at, testKind, entryAt(at.dataDir, 'a'))).toBe(true);
  const { size } = { size: readFileSync(join(entryAt(at.dataDir, 'a'), 'content')).length };
  await evictEntries(at, testKind, { bytes: 2.5 * (size + 100) });
  expect(await keysIn(at.dataDir)).toEqual(['a', 'd']);
  await evictGroup(at, testKind, { group: join(at.dataDir, 'things/group'), most: 1 });
  expect(await keysIn(at.dataDir)).toEqual(['a']);
  at.clock.now += 5000;
  await evictEntries(at, testKind, { idleMs: 5000 });
  expect(await keysIn(at.dataDir)).toEqual(['a']);
  at.clock.now += 1;
  await evictEntries(at, testKind, { idleMs: 5000, graceMs: 6000 });
  expect(await keysIn(at.dataDir)).toEqual(['a']);
  await evictEntries(at, testKind, { idleMs: 5000 });
  expect(await keysIn(at.dataDir)).toEqual([]);
  // A young folder stays: a process may be about to place an entry there.
  const group = join(at.dataDir, 'things/group');
  expect(existsSync(group)).toBe(true);
  utimesSync(group, at.clock.now / 1000 - 3600, at.clock.now / 1000 - 3600);
  await evictEntries(at, testKind, {});
  expect(existsSync(group)).toBe(false);
  expect(noteUse(at, testKind, entryAt(at.dataDir, 'a'))).toBe(false);
  // The folder of the group is made again.
  expect(await make(at, 'a')).toBe(true);
});

test('a used entry stays and counts for no bound, also when its user began after the look', async ({ at }) => {
  await fill(at, ['a', 'b']);
  const used = entryAt(at.dataDir, 'a');
  await evictEntries(at, testKind, { bytes: 0, findUsed: async () => (entry) => entry === used });
  expect(await keysIn(at.dataDir)).toEqual(['a']);
  let looks = 0;
  const findUsed = async () => {
    looks += 1;
    const isSecond = looks === 2;
    if (isSecond) expect(existsSync(used)).toBe(false);
    return () => isSecond;
  };
  await evictEntries(at, testKind, { bytes: 0, findUsed });
  expect(looks).toBe(2);
  expect(judge(used)).toBe('sound');
  expect(readdirSync(join(at.dataDir, 'making'))).toEqual([]);
});

test('a link to a file of an entry outlives the eviction and the trash', async ({ at }) => {
  await fill(at, ['a', 'b']);
  for (const key of ['a', 'b']) linkSync(join(entryAt(at.dataDir, key), 'content'), join(at.dataDir, key));
  const before = ['a', 'b'].map((key) => readFileSync(join(at.dataDir, key), 'utf8'));
  await removeEntry(at, testKind, entryAt(at.dataDir, 'a'));
  const said: object[] = [];
  const logger = { info: () => {}, warn: (fields: object) => void said.push(fields) };
  setAside({ ...at, logger }, testKind, { entry: entryAt(at.dataDir, 'b'), why: 'content: flipped.' });
  expect(['a', 'b'].map((key) => readFileSync(join(at.dataDir, key), 'utf8'))).toEqual(before);
  const [name = ''] = readdirSync(join(at.dataDir, 'trash'));
  const damage = { kind: 'prepared', name: 'group/b', why: 'content: flipped.' };
  expect(JSON.parse(readFileSync(join(at.dataDir, 'trash', name, 'damage.json'), 'utf8'))).toMatchObject(damage);
  expect(said).toEqual([expect.objectContaining({ entry: 'group/b', why: 'content: flipped.' })]);
  // Another process was faster.
  await removeEntry(at, testKind, entryAt(at.dataDir, 'a'));
  setAside({ ...at, logger }, testKind, { entry: entryAt(at.dataDir, 'b'), why: 'again' });
  expect(readdirSync(join(at.dataDir, 'trash'))).toEqual([name]);
});

test.for(['no record', 'an empty record', 'half of the content', 'the folder of another key'])(
  'a place with %s gets the whole entry of the next maker',
  async (what, { at }) => {
    const entry = entryAt(at.dataDir, 'a');
    await fill(at, ['a', 'b']);
    if (what === 'no record') rmSync(join(entry, 'record.json'));
    else if (what === 'an empty record') writeFileSync(join(entry, 'record.json'), '');
    else if (what === 'half of the content') writeFileSync(join(entry, 'content'), 'half');
    else {
      rmSync(entry, { recursive: true });
      cpSync(entryAt(at.dataDir, 'b'), entry, { recursive: true });
    }
    expect(judge(entry)).not.toBe('sound');
    expect(await make(at, 'a')).toBe(true);
    expect(judge(entry)).toBe('sound');
    expect(await make(at, 'a')).toBe(false);
    expect(readdirSync(join(at.dataDir, 'making'))).toEqual([]);
  },
);

test('every flipped byte of a pack and of its index is found, and so is a missing file', async ({ at }) => {
  const gitDir = join(at.dataDir, 'some.git');
  mkdirSync(gitDir);
  git(gitDir, 'init', '-q', '--bare', '.');
  const writer = createObjectWriter({ gitDir, known: new Set() });
  for (const text of ['a', 'bb', 'ccc']) writer.blob(Buffer.from(text));
  await writer.flush();
  const entry = join(gitDir, 'objects/pack');
  const packs = readdirSync(entry).flatMap((name) => (name.endsWith('.pack') ? join(entry, name.slice(0, -5)) : []));
  const damage = () => findDamagedPacks({ checks: createChecks() }, { entry, packs });
  expect(packs).toHaveLength(1);
  expect(await damage()).toBeUndefined();
  for (const kind of ['pack', 'idx']) {
    const path = `${packs[0]}.${kind}`;
    const bytes = readFileSync(path);
    rmSync(path);
    expect(await damage(), `no ${kind}`).toMatch(/^pack-[0-9a-f]{40}\.pack: damaged or missing\.$/);
    for (let index = 0; index < bytes.length; index++) {
      const flipped = Buffer.from(bytes);
      flipped[index] = (flipped[index] ?? 0) ^ 0x10;
      writeFileSync(path, flipped);
      expect(await damage(), `${kind} ${index}`).toBeDefined();
    }
    writeFileSync(path, bytes);
    expect(await damage()).toBeUndefined();
  }
});

test('a check is remembered until it is too old or failed, and the oldest of many is forgotten', async () => {
  const checks = createChecks();
  let looks = 0;
  const look = async (): Promise<string | undefined> => {
    looks += 1;
    return looks === 1 ? 'damaged' : undefined;
  };
  expect(await checks.check({ id: 'a' }, look)).toBe('damaged');
  expect(await checks.check({ id: 'a' }, look)).toBe('damaged');
  expect(looks).toBe(1);
  expect(await checks.check({ id: 'a', within: -1 }, look)).toBeUndefined();
  expect(looks).toBe(2);
  await expect(checks.check({ id: 'b' }, () => Promise.reject(new Error('unreadable')))).rejects.toThrow('unreadable');
  expect(await checks.check({ id: 'b' }, look)).toBeUndefined();
  for (let index = 0; index < 10_000; index++) checks.noteSound(`other ${index}`);
  await checks.check({ id: 'a' }, look);
  expect(looks).toBe(4);
});
