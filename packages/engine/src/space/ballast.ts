import { open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

const chunkBytes = 1024 * 1024;
const fileOf = (dataDir: string): string => join(dataDir, 'ballast');

/** Whether the whole file is there. */
export async function hasBallast(dataDir: string, bytes: number): Promise<boolean> {
  const found = await stat(fileOf(dataDir)).catch(() => undefined);
  return found !== undefined && found.size >= bytes;
}

/** Takes up space by a file that may be removed at any time. Written, not only sized: a file with a hole takes no space. */
export async function makeBallast(dataDir: string, bytes: number): Promise<void> {
  const aside = `${fileOf(dataDir)}.new`;
  const chunk = Buffer.alloc(chunkBytes, 'holdpoint keeps this space free for Redis and the log\n');
  try {
    const file = await open(aside, 'w', 0o600);
    try {
      for (let left = bytes; left > 0; left -= chunkBytes) await file.write(chunk, 0, Math.min(left, chunkBytes));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(aside, fileOf(dataDir));
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  }
}

/** @returns whether there was one */
export async function releaseBallast(dataDir: string): Promise<boolean> {
  const there = (await stat(fileOf(dataDir)).catch(() => undefined)) !== undefined;
  await rm(fileOf(dataDir), { force: true });
  return there;
}
