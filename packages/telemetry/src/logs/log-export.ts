import type { TelemetryThread } from '../thread/telemetry-thread.ts';

export interface LogExport {
  /** Takes a line as it was logged: redacted, one JSON object. */
  write(line: string): void;
  /** Sends what is left, in bounded time. */
  stop(): Promise<void>;
}

export interface LogExportDeps {
  /** The one of the process, with the settings of the log. */
  thread: TelemetryThread;
  /** @param reason the receiver is too slow, or it refused them or is gone */
  onDropped(lines: number, reason: 'queue_full' | 'not_sent'): void;
  /** Milliseconds that the end may take. @default 3000 */
  stopMs?: number;
}
