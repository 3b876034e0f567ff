import { open, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** For a single writer at a time. After a power cut the file has its old or its new content. */
export async function writeDurably(file: string, content: string): Promise<void> {
  const temporary = `${file}.tmp`;
  await writeFile(temporary, content, { mode: 0o600, flush: true });
  await rename(temporary, file);
  await syncDirectory(dirname(file));
}

/** Waits until the names in a directory are on disk. */
export async function syncDirectory(directory: string): Promise<void> {
  await using handle = await open(directory);
  await handle.sync();
}
