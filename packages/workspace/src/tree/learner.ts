import type { RunFolder } from '../run-folder/index.ts';
import { type FileStatus, fileSystemClock, type StatCache } from './stat-cache.ts';

/** Delays `StatCache.set` until the clock has left the tick of the file's write. */
export function createLearner(folder: RunFolder) {
  const waiting: { path: string; status: BigInt64Array; oid: string }[] = [];
  return {
    add: (path: string, status: BigInt64Array, oid: string) => void waiting.push({ path, status, oid }),
    settle: (stats: StatCache) => {
      const clock = fileSystemClock(folder);
      for (const { path, status, oid } of waiting) stats.set(path, statusOf(status), oid, clock);
      waiting.length = 0;
    },
  };
}

/** A status from the numbers of an import; see `statusFields`. */
export function statusOf(numbers: BigInt64Array): FileStatus {
  const [size = 0n, mtimeNs = 0n, ctimeNs = 0n, ino = 0n, dev = 0n, mode = 0n] = numbers;
  return { size, mtimeNs, ctimeNs, ino: BigInt.asUintN(64, ino), dev: BigInt.asUintN(64, dev), mode };
}
