import { processorWait } from './processor-wait.ts';

interface Watched {
  /** Host pids of the processes that are known now. */
  processes: () => readonly number[];
  /** Milliseconds that a process has waited for a processor. */
  waitOf?: (pid: number) => number;
  now: () => number;
}

/** A look at the processes takes this long, or as long as the whole time when the time is shorter. */
const lookMs = 1000;

/**
 * Calls `onEnd` when the processes had their time. While a process waits for a processor most of the time, as on a busy host, the end is put off,
 * up to four times as long in all.
 *
 * @returns a function that ends the wait without a call
 */
export function startPatience(
  { processes, waitOf = processorWait, now }: Watched,
  ms: number,
  onEnd: () => void,
): () => void {
  const latest = now() + 4 * ms;
  const sample = Math.min(lookMs, ms);
  let timer: NodeJS.Timeout;
  const look = () => {
    const before = new Map(processes().map((pid) => [pid, waitOf(pid)]));
    const began = now();
    timer = setTimeout(() => {
      const waited = Math.max(0, ...[...before].map(([pid, wait]) => waitOf(pid) - wait));
      if (waited > (now() - began) / 2 && now() < latest) look();
      else onEnd();
    }, sample).unref();
  };
  timer = setTimeout(look, Math.max(0, ms - sample)).unref();
  return () => clearTimeout(timer);
}
