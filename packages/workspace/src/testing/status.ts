import { statSync } from 'node:fs';
import type { FileStatus } from '../tree/index.ts';

/** The status of a file, with some fields replaced: as it is compared, and as an import sends it. */
export function statOf(
  path: string,
  replaced: Partial<FileStatus> = {},
): { status: FileStatus; numbers: BigInt64Array } {
  const { size, mtimeNs, ctimeNs, ino, dev, mode } = statSync(path, { bigint: true });
  const status = { size, mtimeNs, ctimeNs, ino, dev, mode, ...replaced };
  return {
    status,
    numbers: BigInt64Array.from([status.size, status.mtimeNs, status.ctimeNs, status.ino, status.dev, status.mode]),
  };
}
