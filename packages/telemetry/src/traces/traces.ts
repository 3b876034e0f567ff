import type { EndedSpans, TraceContext } from '@holdpoint/contract';
import type { Telemetry } from 'bullmq';
import type { Logger } from 'pino';
import type { Service } from '../resource.ts';
import type { TelemetryThread } from '../thread/telemetry-thread.ts';
import type { DropReason } from './report-drops.ts';

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
