import { Outbox } from '../outbox.ts';
import type { LogExportSettings } from '../settings/log-export.ts';
import { stopWithin } from '../stop-within.ts';
import type { TelemetryThread } from '../thread/telemetry-thread.ts';

/** Lines go to the thread as they are. Off, nothing is kept. @param settings undefined: off */
export function openLogExport(
  { thread, onDropped, stopMs = 3000 }: LogExportDeps,
  settings: LogExportSettings | undefined,
): LogExport | undefined {
  if (settings === undefined) return undefined;
  thread.onDropped('logs', (lines) => onDropped(lines, 'not_sent'));
  const outbox = new Outbox<string>({
    ...settings.queue,
    send: (lines) => thread.ask<void>('lines', lines).catch(() => onDropped(lines.length, 'not_sent')),
    onFull: () => onDropped(1, 'queue_full'),
  });
  return {
    write: (line) => outbox.put(line),
    stop: () => stopWithin(stopMs, () => outbox.flush()),
  };
}

export interface LogExport {
  /** Takes a logged line: redacted, a JSON object. */
  write(line: string): void;
  /** Sends the remaining lines, in bounded time. */
  stop(): Promise<void>;
}

interface LogExportDeps {
  /** The process's own thread, with the settings of the log. */
  thread: TelemetryThread;
  /** @param reason the receiver is too slow, or refused the lines, or is gone */
  onDropped(lines: number, reason: 'queue_full' | 'not_sent'): void;
  /** Milliseconds permitted to the end. @default 3000 */
  stopMs?: number;
}
