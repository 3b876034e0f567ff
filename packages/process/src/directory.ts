import { statSync } from 'node:fs';

/**
 * Identifies a directory by device and inode, independent of the path: a move within its file system keeps the id, a copy gets a new id.
 * Device numbers change between boots, so compare only ids read in the same boot.
 *
 * @returns undefined when there is no such directory, or this user may not reach it
 */
export function directoryId(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}
