import { readFileSync } from 'node:fs';

/**
 * Bytes that the processes have written to file systems on disks, including mapped files and children that have ended. Infinity when a
 * process hides its count.
 */
export function writtenBy(processes: readonly number[]): number {
  let bytes = 0;
  for (const pid of processes) {
    try {
      bytes += Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'latin1'))?.[1] ?? 0);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EACCES' || code === 'EPERM') return Number.POSITIVE_INFINITY;
    }
  }
  return bytes;
}
