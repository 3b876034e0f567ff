import { open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

const chunkBytes = 1024 * 1024;
const fileOf = (dataDir: string): string => join(dataDir, 'reserve');

export async function hasReserve(dataDir: string, bytes: number): Promise<boolean> {
  const found = await stat(fileOf(dataDir)).catch(() => undefined);
  return found !== undefined && found.size >= bytes;
}

/** Takes up space with a file that may be removed at any time. The file is written in full: a file with a hole takes no space. */
export async function writeReserve(dataDir: string, bytes: number): Promise<void> {
  const temporary = `${fileOf(dataDir)}.new`;
  const chunk = Buffer.alloc(chunkBytes, 'holdpoint keeps this space free for Redis and the log\n');
  try {
    const file = await open(temporary, 'w', 0o600);
    try {
      for (let left = bytes; left > 0; left -= chunkBytes) await file.write(chunk, 0, Math.min(left, chunkBytes));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, fileOf(dataDir));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** @returns whether a reserve existed */
export async function releaseReserve(dataDir: string): Promise<boolean> {
  const exists = await hasReserve(dataDir, 0);
  await rm(fileOf(dataDir), { force: true });
  return exists;
}
