import { randomUUID } from 'node:crypto';
import { close, closeSync, fsync, linkSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';

const fsyncAsync = promisify(fsync);
const closeAsync = promisify(close);

/** Replaces a file. After a crash or a power failure the file has its whole old content or its whole new content. */
export const writeDurably = (file: string, content: string | Uint8Array, mode = 0o600): Promise<void> =>
  write(file, { content, mode, publish: (temporary) => renameSync(temporary, file) });

/** Creates a file unless the file exists. When several processes create the file at once, the first process wins. */
export const createDurably = (file: string, content: string | Uint8Array): Promise<void> =>
  write(file, { content, mode: 0o600, publish: (temporary) => linkUnlessTaken(temporary, file) });

async function write(
  file: string,
  { content, mode, publish }: { content: string | Uint8Array; mode: number; publish: (temporary: string) => void },
): Promise<void> {
  // Hidden: git takes every other name below `refs` for a ref. The owner of the folder removes what a killed process left.
  const temporary = join(dirname(file), `.${basename(file)}.${randomUUID()}.tmp`);
  try {
    await writeSynced(temporary, content, mode);
    publish(temporary);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  await syncPath(dirname(file));
}

function linkUnlessTaken(temporary: string, file: string): void {
  try {
    linkSync(temporary, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  rmSync(temporary);
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

/** Waits until the bytes of a file, or the names in a folder (creations, renames, removals), are on disk. */
export async function syncPath(path: string | Buffer): Promise<void> {
  const fd = openSync(path, 'r');
  try {
    await fsyncAsync(fd);
  } finally {
    await closeAsync(fd);
  }
}

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
