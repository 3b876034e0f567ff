import { setTimeout as delay, setImmediate as next } from 'node:timers/promises';
import { isAlive, type ProcessIdentity } from '@holdpoint/process';
import { SandboxError } from '../errors.ts';

/** Most processes are gone within 0.1 ms; the shortest timer takes more than 1 ms. */
const immediateLooks = 10;
/** A killed process still alive after this time hangs in a disk or network call. */
const timeoutMs = 10_000;

/**
 * Resolves when none of the processes runs. The kernel reports only the end of the worker's own children, so `untilGone` polls: a few times
 * at once, then after 1, 2, 4 … 50 ms. Throws `SandboxError` EKILLFAILED after 10 s.
 */
export async function untilGone(processes: readonly ProcessIdentity[]): Promise<void> {
  let left = processes.filter(isAlive);
  for (let looks = 0; left.length > 0 && looks < immediateLooks; looks++) {
    await next();
    left = left.filter(isAlive);
  }
  let waited = 0;
  for (let pause = 1; left.length > 0; pause = Math.min(pause * 2, 50)) {
    if (waited > timeoutMs) {
      throw new SandboxError(
        'EKILLFAILED',
        `Processes ${left.map((p) => p.pid).join(', ')} did not end after SIGKILL.`,
        {
          retryable: true,
          next: 'Check their state with ps (D: they hang in a disk or network call).',
        },
      );
    }
    await delay(pause);
    waited += pause;
    left = left.filter(isAlive);
  }
}
