import { lutimesSync } from 'node:fs';

/**
 * Sets the time of the last change of a file or link, which is not followed: build tools and interpreters compare it with what they made
 * earlier. Node takes seconds as a number, which is exact to a quarter of a microsecond.
 */
export function setMtime(path: string | Buffer, mtimeNs: bigint): void {
  const seconds = Number(mtimeNs / 1_000_000_000n) + Number(mtimeNs % 1_000_000_000n) / 1e9;
  lutimesSync(path, seconds, seconds);
}
