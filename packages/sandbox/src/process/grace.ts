import { processorWait } from './processor-wait.ts';

/** Programs clean up after SIGTERM in less time. The user does not notice the delay. */
const graceMs = 150;
/** On a busy host. */
const mostMs = 1000;

interface Grace {
  /** Host pids of the processes that are known now. */
  processes: () => readonly number[];
  /** Milliseconds that a process has waited for a processor. */
  waitOf?: (pid: number) => number;
  now: () => number;
}

/**
 * Calls `onEnd` when the processes had their time to clean up. The time in which a process could run and had no processor does not count,
 * up to a second in all.
 *
 * @returns a function that ends the grace without a call
 */
export function startGrace({ processes, waitOf = processorWait, now }: Grace, onEnd: () => void): () => void {
  const began = now();
  const before = new Map(processes().map((pid) => [pid, waitOf(pid)]));
  let timer: NodeJS.Timeout;
  const look = () => {
    const waited = Math.max(0, ...processes().map((pid) => waitOf(pid) - (before.get(pid) ?? 0)));
    const left = Math.min(graceMs + waited, mostMs) - (now() - began);
    if (left < 1) onEnd();
    else timer = setTimeout(look, left);
  };
  timer = setTimeout(look, graceMs);
  return () => clearTimeout(timer);
}
