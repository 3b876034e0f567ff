import { statfs } from 'node:fs/promises';
import { freemem, tmpdir } from 'node:os';

const memory = '/dev/shm';
const spareBytes = 2 * 1024 ** 3;

/**
 * The parent for temporary files that only the test itself reads back: a directory in memory where there is enough, else the usual one. An
 * fsync there takes no time. A killed process loses nothing there either.
 */
export async function memoryDirectory(): Promise<string> {
  const { bavail, bsize } = await statfs(memory).catch(() => ({ bavail: 0, bsize: 0 }));
  return bavail * bsize > spareBytes && freemem() > 2 * spareBytes ? memory : tmpdir();
}
