import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/** Makes the kernel kill sandboxed programs first when the host runs out of memory. Child processes inherit it. */
export function preferForOom(pid: number): void {
  attempt(() => writeFileSync(`/proc/${pid}/oom_score_adj`, '500'));
}

/**
 * Without control groups only the priority keeps the worker ahead of its commands: 512 busy processes leave it a fifth of a processor, and
 * a five-hundredth at the usual priority. Child processes inherit it.
 */
export function lowerPriority(pid: number): void {
  attempt(() => setPriority(pid, 19));
}

/** Ignores a process that has ended or belongs to another user by now: both settings are only preferences. */
function attempt(change: () => void): void {
  try {
    change();
  } catch {
    // see above
  }
}
