import { type Verdict, verdict } from '../../harness/verdict.ts';
import type { Logs } from './logs.ts';

/** Milliseconds that a thread may compute without yielding. */
const longestMs = 100;
/** Milliseconds after its first line in which a process without a running step may compile its code: 0.4-0.7 s were seen. */
const startMs = 10_000;

/**
 * No thread blocked its event loop. Processes are stopped and the machine is busy here, so a delay counts only as far as the thread was
 * computing during it, which the process logs (`loop_late`).
 */
export function loopsFree(logs: Logs): Verdict {
  const wrong: string[] = [];
  let looked = 0;
  for (const [name, text] of logs) {
    looked += 1;
    const began = timeOf(text.split('\n', 1)[0] ?? '');
    for (const line of text.split('\n')) {
      if (!line.includes('"event":"loop_late"')) continue;
      const { busy_ms, late_ms, running } = JSON.parse(line);
      const isStart = (running ?? []).length === 0 && timeOf(line) - began <= startMs;
      if (busy_ms > longestMs && !isStart)
        wrong.push(`${name}: computed for ${busy_ms} of ${late_ms} ms: ${JSON.stringify(running ?? [])}`);
    }
  }
  return verdict('no event loop was blocked', looked, 'logs', wrong);
}

/** Milliseconds since the epoch, or 0 for a line that is not a log entry. */
function timeOf(line: string): number {
  const { time } = /"time":(?<time>\d+)/.exec(line)?.groups ?? {};
  return Number(time ?? 0);
}
