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

/** A blob with its last put two hours ago. */
async function old(text: string): Promise<string> {
  const sha256 = await blobs.put(Buffer.from(text));
  const then = new Date(Date.now() - 2 * hour);
  await utimes(fileOf(sha256), then, then);
  return sha256;
}

test('removes only blobs that no log refers to and no process put lately', async () => {
  const [needed, garbage, young] = [await old('needed'), await old('garbage'), await blobs.put(Buffer.from('young'))];
  expect(await collect([needed])).toEqual({ removed: 1, bytes: 'garbage'.length });
  await expect(blobs.get(garbage)).rejects.toMatchObject({ code: 'blob_missing' });
  expect(String(await blobs.get(needed))).toBe('needed');
  expect(String(await blobs.get(young))).toBe('young');
});

test('keeps a blob that was put again', async () => {
  const sha256 = await old('again');
  await blobs.put(Buffer.from('again'));
  expect((await collect([])).removed).toBe(0);
  expect(String(await blobs.get(sha256))).toBe('again');
});

test('loses no blob to a concurrent put, and no reader misses it', async () => {
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

test('keeps garbage readable in the trash, and moves it back when a log needs it', async () => {
  const sha256 = await old('of a log that Redis lost');
  expect(await collect([], hour)).toEqual({ removed: 0, bytes: 0 });
  expect(await readdir(join(directory, 'trash'))).toEqual([sha256]);
  expect(String(await blobs.get(sha256))).toBe('of a log that Redis lost');
  expect((await collect([], hour)).removed).toBe(0);
  await collect([sha256], hour);
  expect(await readdir(join(directory, 'trash'))).toEqual([]);
  expect(String(await blobs.get(sha256))).toBe('of a log that Redis lost');
});

test('recovers the trash of an interrupted collection', async () => {
  const [needed, garbage] = [await old('needed'), await old('garbage')];
  await mkdir(join(directory, 'trash'), { recursive: true });
  for (const sha256 of [needed, garbage]) await rename(fileOf(sha256), join(directory, 'trash', sha256));
  expect(String(await blobs.get(needed))).toBe('needed');
  expect((await collect([needed])).removed).toBe(1);
  expect(String(await blobs.get(needed))).toBe('needed');
  expect(await readdir(join(directory, 'trash'))).toEqual([]);
});
