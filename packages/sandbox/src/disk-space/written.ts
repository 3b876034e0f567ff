import { readFileSync } from 'node:fs';

/**
 * Bytes that processes have given to file systems of disks, what they mapped and what children that have ended wrote included. Infinity where
 * one of them hides it.
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
