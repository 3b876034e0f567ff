import { statSync } from 'node:fs';

/**
 * Identifies a directory by device and inode, whatever path leads to it: a move within its file system keeps the id, a copy has another.
 * Device numbers change between boots, so compare only ids that were read in one boot.
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
