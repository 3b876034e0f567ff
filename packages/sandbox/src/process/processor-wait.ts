import { readFileSync } from 'node:fs';

/**
 * Milliseconds that the main thread of a process could run and had no processor. Zero where the kernel does not count.
 * Source: `Documentation/scheduler/sched-stats.rst` of Linux, /proc/PID/schedstat.
 */
export function processorWait(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1] ?? 0) / 1e6;
  } catch {
    return 0;
  }
}
