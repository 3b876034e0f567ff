import { statfs } from 'node:fs/promises';

/** What a user without special rights may still write on the file system of a path. */
export async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}
