import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Verdict, verdict } from '../../harness/verdict.ts';

/** More of the same error of a process in a second is a flood: the lines fill the disk while Redis is down. */
const mostPerSecond = 10;
/** Longer lines contain arguments of Redis commands: scripts, and data of users. */
const longestLine = 20_000;

/** Logs by name. */
type Logs = ReadonlyMap<string, string>;

export function readLogs(directory: string): Logs {
  const names = readdirSync(directory).filter((name) => name.endsWith('.log'));
  return new Map(names.map((name) => [name, readFileSync(join(directory, name), 'utf8')]));
}

/** A lasting error is logged now and then, not thousands of times per second. */
export function logsBounded(logs: Logs): Verdict {
  const wrong: string[] = [];
  let looked = 0;
  for (const [name, text] of logs) {
    const times = new Map<string, number>();
    for (const line of text.split('\n')) {
      if (line === '') continue;
      looked += 1;
      if (line.length > longestLine) wrong.push(`${name}: a line of ${line.length} characters: ${line.slice(0, 120)}`);
      const error = errorIn(line);
      if (error !== undefined) times.set(error, (times.get(error) ?? 0) + 1);
    }
    const [most] = [...times].sort(([, a], [, b]) => b - a);
    if (most !== undefined && most[1] > mostPerSecond)
      wrong.push(`${name}: ${most[1]} times in one second: ${most[0]}`);
  }
  return verdict('no log is flooded', looked, 'lines', wrong);
}

/** Two lines are the same error when their second, process, queue, run, request and text are equal. */
function errorIn(line: string): string | undefined {
  let entry: {
    time?: number;
    reqId?: string;
    pid?: number;
    msg?: string;
    queue?: string;
    run_id?: string;
    err?: { message?: string };
  };
  try {
    entry = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (entry.err === undefined) return undefined;
  const { time = 0, pid, msg, queue, run_id, reqId, err } = entry;
  return [Math.floor(time / 1000), pid, queue, run_id, reqId, msg, err.message?.slice(0, 100)].join(' ');
}

/** Milliseconds of computing on a quiet machine, permitted to a thread without yielding. */
const longestMs = 100;
/** Milliseconds after its first line for a process without a running step to compile its code: 0.4-0.7 s were seen. */
const startMs = 10_000;

/**
 * No thread blocked its event loop. Processes are stopped and the machine is busy here, so a delay counts only as far as the thread was
 * computing. The process logs the computing part (`loop_late`).
 *
 * @param slowness how many times as long the same computing takes on this machine, at least 1
 */
export function loopsFree(logs: Logs, slowness: number): Verdict {
  const wrong: string[] = [];
  let looked = 0;
  for (const [name, text] of logs) {
    looked += 1;
    const began = timeOf(text.split('\n', 1)[0] ?? '');
    for (const line of text.split('\n')) {
      if (!line.includes('"event":"loop_late"')) continue;
      const { busy_ms, late_ms, running } = JSON.parse(line);
      const isStart = (running ?? []).length === 0 && timeOf(line) - began <= startMs;
      if (busy_ms > longestMs * slowness && !isStart)
        wrong.push(`${name}: computed for ${busy_ms} of ${late_ms} ms: ${JSON.stringify(running ?? [])}`);
    }
  }
  return verdict('no event loop was blocked', looked, 'logs', wrong);
}

/** Milliseconds since the epoch, or 0 for a line outside of the log format. */
function timeOf(line: string): number {
  const { time } = /"time":(?<time>\d+)/.exec(line)?.groups ?? {};
  return Number(time ?? 0);
}
