import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { CliError } from '../shell/index.ts';
import { type Child, endOfLog } from './spawn-child.ts';

const chunkBytes = 64 * 1024;

/**
 * Reads lines of a growing file from the byte `from` on, until the signal is aborted. A shrunk file was rotated and is read from its
 * beginning. Polls, because a watch costs a file descriptor and reports nothing on some file systems.
 */
export async function* followLines(
  file: string,
  { from, everyMs, signal }: { from: number; everyMs: () => number; signal: AbortSignal },
): AsyncGenerator<string> {
  const descriptor = openSync(file, 'r');
  const buffer = Buffer.allocUnsafe(chunkBytes);
  let position = from;
  let rest = Buffer.alloc(0);
  try {
    while (!signal.aborted) {
      const bytes = readSync(descriptor, buffer, 0, chunkBytes, position);
      if (bytes === 0) {
        if (fstatSync(descriptor).size < position) {
          position = 0;
          rest = Buffer.alloc(0);
        }
        await wait(everyMs(), undefined, { signal }).catch(() => undefined);
        continue;
      }
      position += bytes;
      rest = Buffer.concat([rest, buffer.subarray(0, bytes)]);
      for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
        const line = rest.toString('utf8', 0, end);
        rest = rest.subarray(end + 1);
        yield line;
      }
    }
  } finally {
    closeSync(descriptor);
  }
}

const lineSchema = z.looseObject({
  /** Lines for a supervisor have none. */
  level: z.number().default(30),
  msg: z.string().default(''),
  event: z.string().optional(),
  address: z.string().optional(),
  metrics: z.string().optional(),
  err: z.union([z.string(), z.looseObject({ message: z.string(), next: z.string().optional() })]).optional(),
});
/** The fields of a child's log line for `up`. */
export type LogLine = z.infer<typeof lineSchema>;

/** Undefined for any other line, for example of a stack trace. */
export function parseLogLine(text: string): LogLine | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return lineSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

const warning = 40;

/** The text of a warning or an error; undefined for other lines. */
export function problemOf(line: LogLine): string | undefined {
  if (line.level < warning) return undefined;
  const error = typeof line.err === 'string' ? line.err : line.err?.message;
  return [line.msg, error].filter((part) => part !== undefined && part !== '').join(': ');
}

/** The error's advice, if any. */
const nextOf = ({ err }: LogLine): string | undefined => (typeof err === 'object' ? err.next : undefined);

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
