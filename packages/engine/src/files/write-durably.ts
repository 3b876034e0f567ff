import { randomUUID } from 'node:crypto';
import { link, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Replaces a file. After a power failure the file has its old content or its new content. */
export function writeDurably(file: string, content: string | Buffer): Promise<void> {
  return write(file, content, (temporary) => rename(temporary, file));
}

/** Creates a file unless the file exists. When several processes create the file at once, the first process wins. */
export function createDurably(file: string, content: string | Buffer): Promise<void> {
  return write(file, content, async (temporary) => {
    await link(temporary, file).catch(unlessTaken);
    await rm(temporary);
  });
}

async function write(
  file: string,
  content: string | Buffer,
  publish: (temporary: string) => Promise<void>,
): Promise<void> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    await writeFile(temporary, content, { mode: 0o600, flag: 'wx', flush: true });
    await publish(temporary);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncPath(dirname(file));
}

function unlessTaken(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

/** Waits until the bytes of a file, or the names in a directory, are on disk. */
export async function syncPath(path: string): Promise<void> {
  await using handle = await open(path);
  await handle.sync();
}
