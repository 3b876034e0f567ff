import type { EndedSpans } from '@holdpoint/contract';
import type { countSpans } from '../metrics/count-spans.ts';
import type { Line } from '../thread/messages.ts';

/** Answers requests in the thread, by their names. The signal is aborted when the caller gives up. */
export type Answers = Readonly<Record<string, (input: never, signal: AbortSignal) => Promise<unknown>>>;

/** The surroundings of a part of the thread. */
export interface ThreadHost {
  /** Sends the process an unrequested event. */
  report(event: string, data: unknown): void;
  /** The log of the process. */
  logger: Record<Line['level'], (fields: object, message: string) => void>;
  /** Sends spans of runs: a `TelemetryPort` of the engine. Undefined: traces are off. */
  take: ((batch: readonly EndedSpans[], signal: AbortSignal) => Promise<void>) | undefined;
  countSpans: typeof countSpans;
}

/** The export `openPart` of a module loaded into the thread. */
export type OpenPart = (host: ThreadHost) => Answers;
