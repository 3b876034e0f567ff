import { randomUUID } from 'node:crypto';
import { link, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Temporary file, fsync, rename, fsync of the directory: after a power cut the file is wholly the old or wholly the new one. */
export async function writeDurably(file: string, content: string | Buffer, mode = 0o600): Promise<void> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    await writeSynced(temporary, content, mode);
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncPath(dirname(file));
}

/** Makes a file with its whole content, unless there is one by that name: of several processes the first makes it. */
export async function createDurably(file: string, content: string | Buffer, mode = 0o600): Promise<void> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    await writeSynced(temporary, content, mode);
    await link(temporary, file).catch(unlessTaken);
  } finally {
    await rm(temporary, { force: true });
  }
  await syncPath(dirname(file));
}

async function writeSynced(file: string, content: string | Buffer, mode: number): Promise<void> {
  const handle = await open(file, 'wx', mode);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function unlessTaken(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

/** Waits until the bytes of a file, or the names in a directory, are on disk. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
