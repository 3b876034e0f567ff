import type { EndedSpans } from '@holdpoint/contract';

/** Where the spans of runs go: exporters, and what counts metrics. */
export interface TelemetryPort {
  /**
   * Takes each span at least once: after the death of a worker the next one may hand over spans a second time, with equal ids.
   * Resolves when the spans are out of the process or given up, in bounded time; the cursor of the run then moves past them.
   * @param signal aborted: there is no time left, or another process took over
   * @throws when the signal is aborted before that: the cursor stays, and the next process hands the spans over
   */
  take(batch: readonly EndedSpans[], signal: AbortSignal): Promise<void>;
}
