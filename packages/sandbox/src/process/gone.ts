import { setTimeout as delay } from 'node:timers/promises';
import { SandboxError } from '../errors.ts';
import { isAlive, type ProcessIdentity } from './identity.ts';

/** A killed process that the kernel cannot end at once hangs in a disk or network call. */
const PATIENCE_MS = 10_000;

/**
 * Resolves when none of the processes runs any more. The kernel offers no event for a process that is nobody's child here, so it
 * looks again after 1, 2, 4 … 50 ms; the first look is usually the last. Throws `SandboxError` EKILLFAILED after 10 s.
 */
export async function untilGone(processes: readonly ProcessIdentity[]): Promise<void> {
  let left = processes.filter(isAlive);
  let waited = 0;
  for (let pause = 1; left.length > 0; pause = Math.min(pause * 2, 50)) {
    if (waited > PATIENCE_MS) {
      throw new SandboxError(
        'EKILLFAILED',
        `Processes ${left.map((p) => p.pid).join(', ')} did not end after SIGKILL.`,
        {
          retryable: true,
          next: 'Look at their state with ps (D means that they hang in a disk or network call).',
        },
      );
    }
    await delay(pause);
    waited += pause;
    left = left.filter(isAlive);
  }
}
