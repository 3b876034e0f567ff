import type { LogFn, Logger } from 'pino';

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
export function limitRepeats({ everyMs, isUnique }: { everyMs: number; isUnique: (fields: object) => boolean }) {
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

/** Undefined for a line that is not about an error. */
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
