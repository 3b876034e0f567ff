import { isatty } from 'node:tty';
import { type DestinationStream, destination, type LogFn, type Logger, type LoggerOptions, stdSerializers } from 'pino';
import { addContext } from './logs/log-context.ts';
import { prettyLine } from './logs/pretty-line.ts';

const longestText = 4000;
const pendingBytes = 1024 * 1024;

/**
 * The options of every log of Holdpoint: a repeated error is logged once a second, and an error of Redis never carries the arguments of its
 * command, because these hold users' data. Each line names the subject of its work (`withLogContext`).
 */
export const logOptions = ({
  isUnique = () => false,
  redact = (line) => line,
  traceOf = () => undefined,
}: LogRules = {}): LoggerOptions => ({
  serializers: { err: describeError },
  formatters: { log: addContext(traceOf) },
  hooks: { logMethod: limitRepeats({ isUnique, everyMs: 1000 }), streamWrite: redact },
});

interface LogRules {
  /** Marks an always logged line, for example because a user may search for its request id. */
  isUnique?: (fields: object) => boolean;
  /** Removes secrets from a line before the write. */
  redact?: (line: string) => string;
  /** The trace of a run, for each line with a run id. */
  traceOf?: (runId: string) => string | undefined;
}

/**
 * The log of a process: a file descriptor, written synchronously. An unwritable log (a full disk, a closed terminal) never ends the process:
 * up to 1 MiB waits, and the rest is dropped. On a terminal the lines are for people, elsewhere they are JSON.
 * @param options.also gets every line as well, as JSON
 */
export function openDestination(fd: number, { also, onDropped }: DestinationOptions = {}): DestinationStream {
  const stream = destination({ dest: fd, sync: true, maxLength: pendingBytes });
  stream.on('error', () => undefined);
  if (onDropped !== undefined) stream.on('drop', () => onDropped());
  const render = isatty(fd) ? prettyLine : undefined;
  if (render === undefined && also === undefined) return stream;
  return {
    write(line) {
      stream.write(render?.(line) ?? line);
      also?.(line);
    },
  };
}

interface DestinationOptions {
  also?: ((line: string) => void) | undefined;
  /** Called for each unwritable line. */
  onDropped?: (() => void) | undefined;
}

function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { raw: _raw, ...described } = { ...stdSerializers.err(error) };
  if ('command' in described) described.command = commandName(described.command);
  return { ...described, message: cut(described.message), stack: cut(described.stack) };
}

/** ioredis puts the whole command on its error: `{ name, args }`. */
const commandName = (command: unknown): unknown =>
  typeof command === 'object' && command !== null && 'name' in command ? command.name : undefined;

const cut = (text: string): string => (text.length > longestText ? `${text.slice(0, longestText)}…` : text);

interface Repeats {
  /** From `performance.now`. */
  since: number;
  suppressed: number;
  /** Logs the last suppressed line at the end of its time. */
  timer?: NodeJS.Timeout;
}

const warnLevel = 40;
const mostErrors = 500;

/**
 * A pino hook. The first line about an error is logged at once. Repeats within `everyMs` become one line at the end of that time, with
 * their number in `suppressed`. Two lines are repeats when their text and the message of their error are equal.
 */
function limitRepeats({ everyMs, isUnique }: { everyMs: number; isUnique: (fields: object) => boolean }) {
  const seen = new Map<string, Repeats>();
  return function logMethod(this: Logger, args: Parameters<LogFn>, method: LogFn, level: number): void {
    const [fields, text] = args as unknown as [unknown, unknown];
    const key = level < warnLevel ? undefined : keyOf(fields, text);
    const write = (): void => method.apply(this, args);
    if (key === undefined || isUnique(fields as object)) {
      write();
      return;
    }
    const repeats = seen.get(key);
    const now = performance.now();
    if (repeats === undefined || (repeats.timer === undefined && now - repeats.since >= everyMs)) {
      seen.delete(key);
      seen.set(key, { since: now, suppressed: 0 });
      if (seen.size > mostErrors) forgetOldest(seen);
      write();
      return;
    }
    repeats.suppressed++;
    repeats.timer ??= setTimeout(
      () => {
        const { suppressed } = repeats;
        seen.set(key, { since: performance.now(), suppressed: 0 });
        method.apply(this, [{ ...(fields as object), suppressed }, text] as unknown as Parameters<LogFn>);
      },
      repeats.since + everyMs - now,
    ).unref();
  };
}

/** Undefined for a line without an error. */
function keyOf(fields: unknown, text: unknown): string | undefined {
  if (typeof fields !== 'object' || fields === null || !('err' in fields)) return undefined;
  const { err } = fields;
  return `${String(text)}\n${err instanceof Error ? err.message : String(err)}`;
}

function forgetOldest(seen: Map<string, Repeats>): void {
  const [oldest] = seen;
  if (oldest === undefined) return;
  clearTimeout(oldest[1].timer);
  seen.delete(oldest[0]);
}
