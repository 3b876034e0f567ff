import { randomBytes } from 'node:crypto';
import { close, closeSync, fsync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';

const fsyncAsync = promisify(fsync);
const closeAsync = promisify(close);

/**
 * Replaces a file with either all of the old content or all of the new content after any crash: tmp, fsync, rename, fsync of the folder.
 */
export async function writeDurably(path: string, content: string | Uint8Array, mode = 0o600): Promise<void> {
  const temporary = join(dirname(path), `.${randomBytes(6).toString('hex')}.tmp`);
  try {
    await writeSynced(temporary, content, mode);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/**
 * Writes a new file and waits until its bytes are on disk. The fsync begins in the next turn of the event loop, after the caller's next
 * files in the same folder: during an fsync's commit of the file system's journal, creating a file waits for the commit, and blocks the
 * event loop.
 */
export async function writeSynced(path: string, content: string | Uint8Array, mode: number): Promise<void> {
  const fd = openSync(path, 'wx', mode);
  try {
    writeAll(fd, typeof content === 'string' ? Buffer.from(content) : content);
    await nextTurn();
    await fsyncAsync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Waits until the entries of a folder (creations, renames, removals) are on disk. */
export async function syncFolder(path: string | Buffer): Promise<void> {
  const fd = openSync(path, 'r');
  try {
    await fsyncAsync(fd);
  } finally {
    await closeAsync(fd);
  }
}

/** Waits until the bytes of a file from another process are on disk. */
export const syncFile = (path: string): Promise<void> => syncFolder(path);

/** Waits until the bytes of an open file are on disk. */
export async function syncOpen(fd: number): Promise<void> {
  await fsyncAsync(fd);
}

/** Writes all bytes; a single `write` may take fewer. @param position @default where the last write ended */
export function writeAll(fd: number, bytes: Uint8Array, position?: number): void {
  let offset = 0;
  while (offset < bytes.length) {
    const at = position === undefined ? null : position + offset;
    offset += writeSync(fd, bytes, offset, bytes.length - offset, at);
  }
}
