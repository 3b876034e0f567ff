import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncPath, writeDurably } from '@holdpoint/process/durable-files';
import { EngineError } from '../domain/errors.ts';

/** Blobs that no log refers to wait here for a concurrent put and for a restored log. `get` reads from here, too. */
const trash = 'trash';

interface Collected {
  removed: number;
  bytes: number;
}

interface Input {
  needed: ReadonlySet<string>;
  idleMs: number;
  /** How long a blob stays in the trash, in milliseconds. */
  trashMs: number;
  now: number;
}

/**
 * Moves each suspected blob to the trash, then checks the blob again. A put before the move has renewed the blob's time, so the blob moves
 * back. A put after the move finds no file and writes the blob again. Blobs from earlier collections are checked the same way, and removed
 * after their time in the trash.
 */
async function collectBlobs(directory: string, input: Input): Promise<Collected> {
  const collected: Collected = { removed: 0, bytes: 0 };
  const folder = join(directory, trash);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const sha256 of await readdir(folder)) await settle(directory, sha256, input, collected);
  for (const shard of await readdir(directory)) {
    if (!/^[0-9a-f]{2}$/.test(shard)) continue;
    for (const rest of await readdir(join(directory, shard))) {
      const file = join(directory, shard, rest);
      if (rest.endsWith('.tmp')) {
        if (await isIdle(file, input)) await rm(file, { force: true });
        continue;
      }
      const sha256 = `${shard}${rest}`;
      if (input.needed.has(sha256) || !(await isIdle(file, input))) continue;
      await rename(file, join(folder, sha256));
      await settle(directory, sha256, input, collected);
    }
  }
  return collected;
}

async function settle(directory: string, sha256: string, input: Input, collected: Collected): Promise<void> {
  const file = join(directory, trash, sha256);
  if (input.needed.has(sha256) || !(await isIdle(file, input))) {
    await rename(file, join(directory, sha256.slice(0, 2), sha256.slice(2)));
    return;
  }
  const { size, ctimeMs } = await stat(file);
  // The move to the trash is the last change of the file's status: ctime.
  if (input.now - ctimeMs <= input.trashMs) return;
  await rm(file);
  collected.removed += 1;
  collected.bytes += size;
}

async function isIdle(file: string, { idleMs, now }: Input): Promise<boolean> {
  const status = await stat(file).catch(() => undefined);
  return status !== undefined && now - status.mtimeMs > idleMs;
}

/** Content-addressed files under a directory: `ab/cdef…` by SHA-256. Written once, never changed. */
export interface BlobStore {
  /** An existing blob counts as written now, because a log will refer to the blob. */
  put(content: Buffer): Promise<string>;
  get(sha256: string): Promise<Buffer>;
  /**
   * Moves blobs to the trash when no log refers to them and no process has put them for `idleMs`; removes them from the trash after
   * `trashMs`. A concurrent put wins.
   * @returns the number of removed blobs, and their bytes
   */
  collect(input: { needed: ReadonlySet<string>; idleMs: number; trashMs: number; now: number }): Promise<Collected>;
}

/** @param directory created when missing. @throws EngineError `blob_missing`, `blob_damaged` */
export function openBlobStore(directory: string): BlobStore {
  const fileOf = (sha256: string): string => join(directory, sha256.slice(0, 2), sha256.slice(2));
  const trashOf = (sha256: string): string => join(directory, trash, sha256);
  return {
    async put(content) {
      const sha256 = digest(content);
      const file = fileOf(sha256);
      if (await touch(file)) return sha256;
      const created = await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      if (created !== undefined) await syncPath(dirname(created));
      await writeDurably(file, content);
      return sha256;
    },
    async get(sha256) {
      // A collection may move the blob to the trash and back while this reads.
      const paths = [fileOf(sha256), trashOf(sha256), fileOf(sha256)];
      const content = await readFirst(paths).catch((cause: unknown) => {
        throw new EngineError('blob_missing', `the blob ${sha256} is not in ${directory}`, { cause });
      });
      if (digest(content) !== sha256) throw new EngineError('blob_damaged', `the blob ${sha256} has other content`);
      return content;
    },
    collect: (input) => collectBlobs(directory, input),
  };
}

async function readFirst([path = '', ...others]: readonly string[]): Promise<Buffer> {
  return readFile(path).catch((error: unknown) => {
    if (others.length === 0) throw error;
    return readFirst(others);
  });
}

const digest = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

/** Returns whether the blob exists. Its new time protects the blob from a collection. */
async function touch(file: string): Promise<boolean> {
  const now = new Date();
  return utimes(file, now, now).then(
    () => true,
    () => false,
  );
}
