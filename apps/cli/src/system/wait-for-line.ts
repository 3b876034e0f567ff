import { CliError } from '../shell/index.ts';
import { followLines, type LogLine, nextOf, parseLogLine, problemOf } from './log-lines.ts';
import { type Child, endOfLog } from './spawn-child.ts';

const pollMs = 20;

/**
 * Waits until `find` accepts a line of a child's log.
 *
 * @throws CliError `port_taken`, `child_failed` (the child ended first), `timeout`; or the signal's reason
 */
export async function waitForLine<Found>(
  child: Child,
  { find, timeoutMs, signal }: { find: (line: LogLine) => Found | undefined; timeoutMs: number; signal: AbortSignal },
): Promise<Found> {
  const gone = new AbortController();
  const late = AbortSignal.timeout(timeoutMs);
  const ended = child.ended.then((how) => {
    gone.abort();
    return how;
  });
  const reading = AbortSignal.any([signal, gone.signal, late]);
  for await (const text of followLines(child.spec.logFile, {
    from: child.logStart,
    everyMs: () => pollMs,
    signal: reading,
  })) {
    const line = parseLogLine(text);
    const found = line === undefined ? undefined : find(line);
    if (found !== undefined) return found;
  }
  signal.throwIfAborted();
  if (gone.signal.aborted) throw endedEarly(child, await ended);
  throw new CliError('timeout', `${child.spec.name} was not ready within ${timeoutMs / 1000} s.`, {
    next: `Read ${child.spec.logFile}.`,
  });
}

function endedEarly(child: Child, how: string): CliError {
  const lines = endOfLog(child).filter((line) => line.trim() !== '');
  const problems = lines
    .map(parseLogLine)
    .filter((line) => line !== undefined)
    .filter((line) => problemOf(line) !== undefined);
  const last = problems.at(-1);
  // A child with an end before its logger exists leaves plain text.
  const why = (last && problemOf(last)) ?? lines.join('\n');
  if (lines.some((line) => line.includes('EADDRINUSE'))) {
    return new CliError('port_taken', `The API could not listen. ${why}`);
  }
  const next = [last && nextOf(last), `Its log is ${child.spec.logFile}.`]
    .filter((text) => text !== undefined)
    .join(' ');
  return new CliError('child_failed', `${child.spec.name} ended while starting (${how}). ${why}`.trim(), { next });
}
