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
  /** A span of a request that begins now. @param caller the context that the request named */
  request(method: string, caller: TraceContext | undefined): RequestSpan;
  /** For BullMQ's `telemetry` option. Undefined: its spans are not exported. */
  queues: Telemetry | undefined;
  /** Sends what is left, in bounded time. */
  stop(): Promise<void>;
}

/** A span that is recorded elsewhere: from the log, or by another process. */
export interface SpanPlace extends Pick<EndedSpans, 'run_id' | 'trace_id' | 'traceparent' | 'tracestate'> {
  span_id: string;
  /** What all live spans below it get. */
  attributes?: Attributes;
}

type Attributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export interface NewLiveSpan {
  name: string;
  /** @default internal */
  kind?: 'internal' | 'client' | 'consumer';
  attributes?: Attributes;
}

/** Spans of what the log does not have. */
export interface LiveSpans {
  /** Does work whose live spans are children of this span. @param placeOf called when the first of them begins: most work has none */
  within<Result>(placeOf: () => SpanPlace, work: () => Result): Result;
  /** Does work that a span is about. An error ends it with its code, never with its message. */
  during<Result>(span: NewLiveSpan, work: (set: (attributes: Attributes) => void) => Promise<Result>): Promise<Result>;
  /** Records something that is over. Times in milliseconds since the epoch. */
  add(span: NewLiveSpan & { startTime: number; endTime: number; error?: string | undefined }): void;
}

/** A request to the API. */
export interface RequestSpan {
  /** For what the request begins. */
  context(): TraceContext;
  /** The run that it is about; another trace is linked. */
  about(run: Pick<SpanPlace, 'run_id' | 'trace_id' | 'span_id'>): void;
  end(answer: { route: string | undefined; status: number }): void;
}

export interface TraceDeps {
  /** The one of the process, with the settings of the traces. */
  thread: TelemetryThread;
  service: Service;
  logger: Pick<Logger, 'warn' | 'debug'>;
  /** Counts spans that no receiver got. */
  onDropped?: ((spans: number, reason: DropReason) => void) | undefined;
  /** Milliseconds that `stop` may take. @default 5000 */
  stopMs?: number;
}
