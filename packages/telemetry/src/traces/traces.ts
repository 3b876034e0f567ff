import type { EndedSpans, TraceContext } from '@holdpoint/contract';
import type { Telemetry } from 'bullmq';
import type { Logger } from 'pino';
import type { Service } from '../resource.ts';
import type { TelemetryThread } from '../thread/telemetry-thread.ts';

/** The traces of a process. */
export interface Traces {
  /** Where the spans of runs go: a `TelemetryPort` of the engine. */
  take(batch: readonly EndedSpans[], signal: AbortSignal): Promise<void>;
  live: LiveSpans;
  /** A span of a request with its beginning now. @param caller the context named in the request */
  request(method: string, caller: TraceContext | undefined): RequestSpan;
  /** For BullMQ's `telemetry` option. Undefined: its spans are not exported. */
  queues: Telemetry | undefined;
  /** Sends the remaining spans, in bounded time. */
  stop(): Promise<void>;
}

/** A span recorded elsewhere: from the log, or by another process. */
export interface SpanPlace extends Pick<EndedSpans, 'run_id' | 'trace_id' | 'traceparent' | 'tracestate'> {
  span_id: string;
  /** Attributes of all live spans below. */
  attributes?: Attributes;
}

type Attributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export interface NewLiveSpan {
  name: string;
  /** @default internal */
  kind?: 'internal' | 'client' | 'consumer';
  attributes?: Attributes;
}

/** Spans of work without a place in the log. */
export interface LiveSpans {
  /** Does work whose live spans are children of this span. @param placeOf called when the first of them begins: most work has none */
  within<Result>(placeOf: () => SpanPlace, work: () => Result): Result;
  /** Does the work of a span. An error ends the span with its code, never with its message. */
  during<Result>(span: NewLiveSpan, work: (set: (attributes: Attributes) => void) => Promise<Result>): Promise<Result>;
  /** Records finished work. Times in milliseconds since the epoch. */
  add(span: NewLiveSpan & { startTime: number; endTime: number; error?: string | undefined }): void;
}

/** A request to the API. */
export interface RequestSpan {
  /** The context for work begun by the request. */
  context(): TraceContext;
  /** The run in the request; another trace is linked. */
  about(run: Pick<SpanPlace, 'run_id' | 'trace_id' | 'span_id'>): void;
  end(answer: { route: string | undefined; status: number }): void;
}

export interface TraceDeps {
  /** The process's own thread, with the settings of the traces. */
  thread: TelemetryThread;
  service: Service;
  logger: Pick<Logger, 'warn' | 'debug'>;
  /** Counts spans lost for every receiver. */
  onDropped?: ((spans: number, reason: DropReason) => void) | undefined;
  /** Milliseconds permitted to `stop`. @default 5000 */
  stopMs?: number;
}

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
