import type { TelemetryThread } from '../thread/telemetry-thread.ts';

export interface LogExport {
  /** Takes a logged line: redacted, a JSON object. */
  write(line: string): void;
  /** Sends the remaining lines, in bounded time. */
  stop(): Promise<void>;
}

export interface LogExportDeps {
  /** The process's own thread, with the settings of the log. */
  thread: TelemetryThread;
  /** @param reason the receiver is too slow, or refused the lines, or is gone */
  onDropped(lines: number, reason: 'queue_full' | 'not_sent'): void;
  /** Milliseconds permitted to the end. @default 3000 */
  stopMs?: number;
}
