import { writeFileSync } from 'node:fs';

/** Makes the kernel kill sandboxed programs first when the host runs out of memory. Child processes inherit the score. */
export function preferForOom(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, '500');
  } catch {
    // A preference only: the process has ended, or belongs to another user by now.
  }
}
