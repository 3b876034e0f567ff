import type { EndedSpans } from '@holdpoint/contract';

/** The receiver of the spans of runs: exporters, and counters of metrics. */
export interface TelemetryPort {
  /**
   * Takes each span at least once: after the death of a worker the next worker may hand over spans a second time, with equal ids.
   * Resolves when the spans are out of the process or given up, in bounded time; the cursor of the run then moves past them.
   * @param signal aborted: no time is left, or another process took over
   * @throws when the signal is aborted before the end: the cursor stays, and the next process hands the spans over
   */
  take(batch: readonly EndedSpans[], signal: AbortSignal): Promise<void>;
}

/** The engine's log lines: an object of fields and a message. pino fits. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** The counts of the engine for dashboards. */
export interface Metrics {
  /** Something was stuck, and was put right. */
  repaired(what: string): void;
}
