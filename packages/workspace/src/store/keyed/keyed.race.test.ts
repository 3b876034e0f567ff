import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as anyTest, expect } from 'vitest';
import { belongsToDeadProcess } from '../../run-folder/index.ts';
import { entryAt, judge, make, testKind } from '../../testing/keyed-process.ts';
import { beginEntry, entriesOf } from './index.ts';

const program = join(import.meta.dirname, '../../testing/keyed-process.ts');

const test = anyTest.extend<{ dataDir: string }>({
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads the names of the fixtures that this one needs from the pattern.
  dataDir: async ({}, use) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'holdpoint-keyed-'));
    await use(dataDir);
    rmSync(dataDir, { recursive: true });
  },
});

const depsOf = (dataDir: string) => ({ dataDir, now: Date.now, onPoint: () => {} });

function start(input: object): {
  child: ChildProcess;
  ended: Promise<{ torn: string; signal: NodeJS.Signals | null }>;
} {
  const child = spawn(process.execPath, [program, JSON.stringify(input)], { stdio: ['ignore', 'pipe', 'inherit'] });
  let torn = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    torn += chunk;
  });
  const ended = once(child, 'close').then(([, signal]) => ({ torn, signal }));
  return { child, ended };
}

const isWhole = (entry: string) => expect(judge(entry), entry).toBe('sound');

test('of many makers of one key one wins, and the entry never changes again', async ({ dataDir }) => {
  const deps = depsOf(dataDir);
  const results = await Promise.all(Array.from({ length: 12 }, () => make(deps, 'key')));
  expect(results.filter(Boolean)).toHaveLength(1);
  const { ino } = statSync(entryAt(dataDir, 'key'));
  expect(await make(deps, 'key')).toBe(false);
  expect(statSync(entryAt(dataDir, 'key')).ino).toBe(ino);
  expect(readdirSync(join(dataDir, 'making'))).toEqual([]);
});

test('an entry that appears between the look and the rename stays', async ({ dataDir }) => {
  const deps = depsOf(dataDir);
  const at = entryAt(dataDir, 'key');
  await using build = beginEntry(deps, testKind);
  let looks = 0;
  const isPlaced = await build
    .place(at, {
      isSound: async () => {
        looks += 1;
        // Nothing is there at the first look. The other maker is done before this one renames.
        if (looks === 1) expect(await make(deps, 'key')).toBe(true);
        return looks > 1 && judge(at) === 'sound';
      },
      isTorn: () => judge(at) !== 'sound',
    })
    .catch((error: unknown) => error);
  expect(isPlaced).toBe(false);
  expect(looks).toBe(2);
  isWhole(at);
});

test('processes that make, use and evict the same keys see whole entries alone, and killed ones leave nothing else', async ({
  dataDir,
}) => {
  const workers = Array.from({ length: 4 }, (_, seed) => start({ dataDir, seed: seed + 1, rounds: 60 }));
  const killed = Array.from({ length: 3 }, (_, seed) =>
    start({ dataDir, seed: seed + 50, rounds: 200, dieAt: 7 * (seed + 1) }),
  );
  for (const { signal } of await Promise.all(killed.map(({ ended }) => ended))) expect(signal).toBe('SIGKILL');
  for (const one of await Promise.all(workers.map(({ ended }) => ended))) {
    expect(one).toEqual({ torn: '0', signal: null });
  }
  for (const entry of await entriesOf(dataDir, testKind)) isWhole(entry);
  const left = readdirSync(join(dataDir, 'making'));
  expect(left.filter((name) => !belongsToDeadProcess(name))).toEqual([]);
});

test('a maker killed at each point leaves a whole entry or none', async ({ dataDir }) => {
  const seen = new Set<string>();
  // A point after the content, before the rename, and after it, for each made entry.
  for (let dieAt = 1; dieAt <= 6; dieAt++) {
    const { signal } = await start({ dataDir, seed: 7, rounds: 40, dieAt }).ended;
    expect(signal).toBe('SIGKILL');
    for (const entry of await entriesOf(dataDir, testKind)) {
      isWhole(entry);
      seen.add(entry);
    }
    for (const name of readdirSync(join(dataDir, 'making'))) expect(belongsToDeadProcess(name), name).toBe(true);
  }
  expect(seen.size).toBeGreaterThan(0);
});

test('an entry is placed when the folder above is removed at the moment of the rename', async ({ dataDir }) => {
  const at = entryAt(dataDir, 'key');
  await using build = beginEntry(depsOf(dataDir), testKind);
  writeFileSync(join(build.path, 'record.json'), '');
  const away = join(dataDir, 'away');
  let looks = 0;
  const isPlaced = await build.place(at, {
    isSound: async () => {
      looks += 1;
      // The first rename fails as it does without a folder above.
      if (looks === 1) renameSync(build.path, away);
      else renameSync(away, build.path);
      return false;
    },
    isTorn: () => true,
  });
  expect([isPlaced, looks]).toEqual([true, 2]);
  expect(readdirSync(at)).toEqual(['record.json']);
});
