import { lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runFolder } from '../run-folder/index.ts';
import { fileSystemClock, openStatCache } from './stat-cache.ts';

const oid = 'a'.repeat(40);
const stored = new Set([oid]);
let dataDir = '';

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'holdpoint-stat-cache-'));
  mkdirSync(join(dataDir, 'runs/run_1'), { recursive: true });
});

afterEach(() => rmSync(dataDir, { recursive: true }));

function file(content = 'x') {
  const path = join(dataDir, 'file');
  writeFileSync(path, content);
  return { path, status: lstatSync(path, { bigint: true }) };
}

test('a file that changed in the tick of its hashing is not cached', () => {
  const cache = openStatCache(runFolder(dataDir, 'run_1'));
  const { status } = file();
  cache.set('file', status, oid, status.ctimeNs + 1n);
  expect(cache.get('file', status)).toBe(oid);
  cache.set('file', status, oid, status.ctimeNs);
  expect(cache.get('file', status)).toBeUndefined();
});

test('the names of a folder that changed in the tick of its reading are not cached', () => {
  const cache = openStatCache(runFolder(dataDir, 'run_1'));
  const status = lstatSync(dataDir, { bigint: true });
  cache.setNames('folder', status, ['one'], status.ctimeNs);
  expect(cache.getNames('folder', status)).toBeUndefined();
  cache.setNames('folder', status, ['one'], status.ctimeNs + 1n);
  expect(cache.getNames('folder', status)).toEqual(['one']);
  writeFileSync(join(dataDir, 'two'), '');
  expect(cache.getNames('folder', lstatSync(dataDir, { bigint: true }))).toBeUndefined();
  cache.retain(new Set());
  expect(cache.getNames('folder', status)).toEqual(['one']);
  cache.retain(new Set());
  expect(cache.getNames('folder', status)).toBeUndefined();
});

test('later entries supersede saved ones in the same file', async () => {
  const folder = runFolder(dataDir, 'run_1');
  const other = 'c'.repeat(40);
  const both = new Set([oid, other]);
  const { status } = file();
  for (let round = 0; round < 6; round++) {
    const cache = openStatCache(folder);
    cache.set('same', status, round % 2 === 0 ? oid : other, status.ctimeNs + 1n);
    cache.set(`path-${round}`, status, oid, status.ctimeNs + 1n);
    await cache.save(both);
  }
  const again = openStatCache(folder);
  expect(again.get('same', status)).toBe(other);
  expect(again.get('path-0', status)).toBe(oid);
  again.retain(new Set(['same']));
  for (let round = 0; round < 1100; round++) {
    again.set('same', status, oid, status.ctimeNs + 1n);
    await again.save(both);
  }
  expect(readFileSync(folder.statCache).length).toBeLessThan(1100 * 60);
  expect(openStatCache(folder).get('same', status)).toBe(oid);
  expect(openStatCache(folder).get('path-0', status)).toBeUndefined();
});

test('the clock is the one that sets file times', () => {
  const folder = runFolder(dataDir, 'run_1');
  for (let round = 0; round < 100; round++) {
    const before = fileSystemClock(folder);
    const { status } = file(`${round}`);
    expect(status.mtimeNs >= before).toBe(true);
    expect(fileSystemClock(folder) >= status.ctimeNs).toBe(true);
  }
});

test('entries survive a restart; a torn file counts as empty', async () => {
  const folder = runFolder(dataDir, 'run_1');
  const cache = openStatCache(folder);
  const { status } = file();
  const clock = status.ctimeNs + 1n;
  const names = ['plain', 'with\ttab and\nnewline', '\xff\xe9', '0', ' '];
  for (const name of names) cache.set(name, status, oid, clock);
  cache.set('not stored', status, 'b'.repeat(40), clock);
  await cache.save(stored);
  const again = openStatCache(folder);
  expect(names.map((name) => again.get(name, status))).toEqual(names.map(() => oid));
  expect(again.get('not stored', status)).toBeUndefined();
  truncateSync(folder.statCache, readFileSync(folder.statCache).length - 1);
  expect(openStatCache(folder).get('plain', status)).toBeUndefined();
});
