import { lutimesSync } from 'node:fs';

/**
 * Sets the time of the last change of a file or link, without following the link: build tools and interpreters compare the time with their
 * earlier output. Node takes seconds as a number, exact to a quarter of a microsecond.
 */
export function setMtime(path: string | Buffer, mtimeNs: bigint): void {
  const seconds = Number(mtimeNs / 1_000_000_000n) + Number(mtimeNs % 1_000_000_000n) / 1e9;
  lutimesSync(path, seconds, seconds);
}
