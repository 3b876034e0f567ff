import { mkdir, mkdtemp, readdir, rename, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type BlobStore, openBlobStore } from './blob-store.ts';

let directory: string;
let blobs: BlobStore;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdpoint-blobs-'));
  blobs = openBlobStore(directory);
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const hour = 3_600_000;
const fileOf = (sha256: string) => join(directory, sha256.slice(0, 2), sha256.slice(2));
const collect = (needed: string[], trashMs = -hour) =>
  blobs.collect({ needed: new Set(needed), idleMs: hour, trashMs, now: Date.now() });

/** A blob that was last put two hours ago. */
async function old(text: string): Promise<string> {
  const sha256 = await blobs.put(Buffer.from(text));
  const then = new Date(Date.now() - 2 * hour);
  await utimes(fileOf(sha256), then, then);
  return sha256;
}

test('what nothing refers to and nobody put lately is removed; everything else stays', async () => {
  const [needed, garbage, young] = [await old('needed'), await old('garbage'), await blobs.put(Buffer.from('young'))];
  expect(await collect([needed])).toEqual({ removed: 1, bytes: 'garbage'.length });
  await expect(blobs.get(garbage)).rejects.toMatchObject({ code: 'blob_missing' });
  expect(String(await blobs.get(needed))).toBe('needed');
  expect(String(await blobs.get(young))).toBe('young');
});

test('a blob that is put again is as good as new', async () => {
  const sha256 = await old('again');
  await blobs.put(Buffer.from('again'));
  expect((await collect([])).removed).toBe(0);
  expect(String(await blobs.get(sha256))).toBe('again');
});

test('a put at the same moment as a collection wins, and no reader misses the blob', async () => {
  const content = Buffer.from('wanted');
  for (let round = 0; round < 200; round++) {
    const sha256 = await old('wanted');
    const collecting = collect([]);
    await new Promise((resolve) => setImmediate(resolve));
    await blobs.put(content);
    const read = blobs.get(sha256);
    await collecting;
    expect(String(await read)).toBe('wanted');
    expect(String(await blobs.get(sha256))).toBe('wanted');
  }
});

test('what no log refers to stays readable in the trash for its time, and comes back with a log that needs it', async () => {
  const sha256 = await old('of a log that Redis lost');
  expect(await collect([], hour)).toEqual({ removed: 0, bytes: 0 });
  expect(await readdir(join(directory, 'trash'))).toEqual([sha256]);
  expect(String(await blobs.get(sha256))).toBe('of a log that Redis lost');
  expect((await collect([], hour)).removed).toBe(0);
  await collect([sha256], hour);
  expect(await readdir(join(directory, 'trash'))).toEqual([]);
  expect(String(await blobs.get(sha256))).toBe('of a log that Redis lost');
});

test('what an interrupted collection had moved aside comes back when it is needed, and goes when it is not', async () => {
  const [needed, garbage] = [await old('needed'), await old('garbage')];
  await mkdir(join(directory, 'trash'), { recursive: true });
  for (const sha256 of [needed, garbage]) await rename(fileOf(sha256), join(directory, 'trash', sha256));
  expect(String(await blobs.get(needed))).toBe('needed');
  expect((await collect([needed])).removed).toBe(1);
  expect(String(await blobs.get(needed))).toBe('needed');
  expect(await readdir(join(directory, 'trash'))).toEqual([]);
});
