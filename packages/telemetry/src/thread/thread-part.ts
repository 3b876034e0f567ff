import type { EndedSpans } from '@holdpoint/contract';
import type { countSpans } from '../metrics/count-spans.ts';
import type { Line } from './messages.ts';

/** Answers requests in the thread, by their names. The signal is aborted when no one waits for the answer. */
export type Answers = Readonly<Record<string, (input: never, signal: AbortSignal) => Promise<unknown>>>;

/** What a part of the thread works with. */
export interface ThreadHost {
  /** Reports the process something that it did not ask for. */
  report(event: string, data: unknown): void;
  /** The log of the process. */
  logger: Record<Line['level'], (fields: object, message: string) => void>;
  /** Sends spans of runs: a `TelemetryPort` of the engine. Undefined: traces are off. */
  take: ((batch: readonly EndedSpans[], signal: AbortSignal) => Promise<void>) | undefined;
  countSpans: typeof countSpans;
}

/** What a module that is loaded into the thread exports as `openPart`. */
export type OpenPart = (host: ThreadHost) => Answers;
