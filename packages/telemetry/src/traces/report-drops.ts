import type { Logger } from 'pino';

/** Why signals were dropped. */
export type DropReason = 'queue_full' | 'not_sent';

interface Dropped {
  spans: number;
  error?: Error | undefined;
}

/** Logs drops: the first immediately, then once a minute. @param count counts the drops in a metric */
export function reportDrops(
  logger: Pick<Logger, 'warn'>,
  count: (spans: number, reason: DropReason) => void,
  { everyMs = 60_000 }: { everyMs?: number } = {},
) {
  const waiting = new Map<DropReason, Dropped>();
  let timer: NodeJS.Timeout | undefined;
  const log = (): void => {
    for (const [reason, { spans, error }] of waiting) {
      logger.warn({ event: 'spans_dropped', reason, spans, reported: error?.message }, 'spans were dropped');
    }
    timer = waiting.size === 0 ? undefined : setTimeout(log, everyMs).unref();
    waiting.clear();
  };
  return {
    dropped(spans: number, reason: DropReason, error?: Error): void {
      count(spans, reason);
      const before = waiting.get(reason);
      waiting.set(reason, { spans: (before?.spans ?? 0) + spans, error: error ?? before?.error });
      if (timer === undefined) log();
    },
    stop(): void {
      clearTimeout(timer);
      log();
      clearTimeout(timer);
    },
  };
}
