import type { TraceSpan } from '@holdpoint/contract';

/** Spans of one run that have ended, in the order in which its log ended them. A parent may follow later: it ends after its children. */
export interface EndedSpans {
  run_id: string;
  trace_id: string;
  spans: readonly TraceSpan[];
}

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
