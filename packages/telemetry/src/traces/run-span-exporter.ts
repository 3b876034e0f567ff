import type { EndedSpans } from '@holdpoint/contract';
import { ROOT_CONTEXT, type SpanContext, SpanKind, trace } from '@opentelemetry/api';
import { parseTraceParent, TraceState } from '@opentelemetry/core';
import { type Sampler, SamplingDecision } from '@opentelemetry/sdk-trace';
import type { TraceSettings } from '../settings/traces.ts';
import { readableSpan, type SpanOrigin } from './readable-span.ts';
import type { Sender } from './sender.ts';
import { splitTrace } from './split-trace.ts';
import { withoutContent } from './without-content.ts';

interface Deps {
  origin: SpanOrigin;
  sampler: Sampler;
  senders: readonly Sender[];
  per: TraceSettings['per'];
}

/** Most spans of a request to a receiver. */
const mostSpans = 512;

/** Sends the spans of runs, of sampled traces alone: a `TelemetryPort` of the engine. */
export function openRunSpanExporter({ origin, sampler, senders, per }: Deps) {
  return async (batch: readonly EndedSpans[], signal: AbortSignal): Promise<void> => {
    const spans = batch
      .filter((run) => isSampled(sampler, run))
      .flatMap((run) => {
        const traceState = traceStateOf(run);
        const placed = per === 'segment' ? splitTrace(run) : run.spans.map((span) => ({ traceId: run.trace_id, span }));
        return placed.map(({ traceId, span }) => readableSpan(origin, { traceId, traceState }, withoutContent(span)));
      });
    for (let from = 0; from < spans.length; from += mostSpans) {
      const some = spans.slice(from, from + mostSpans);
      await unlessAborted(Promise.all(senders.map((send) => send(some))), signal);
    }
  };
}

/** Whether the trace of a run is sampled. All its spans have the same answer. */
export function isSampled(sampler: Sampler, run: Omit<EndedSpans, 'spans' | 'run_id'>): boolean {
  const caller = callerOf(run);
  const context = caller === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, caller);
  const { decision } = sampler.shouldSample(context, run.trace_id, 'run', SpanKind.INTERNAL, {}, []);
  return decision === SamplingDecision.RECORD_AND_SAMPLED;
}

const callerOf = ({ traceparent }: Pick<EndedSpans, 'traceparent'>): SpanContext | undefined => {
  const caller = traceparent === undefined ? null : parseTraceParent(traceparent);
  return caller === null ? undefined : { ...caller, isRemote: true };
};

const traceStateOf = ({ tracestate }: EndedSpans): SpanContext['traceState'] =>
  tracestate === undefined ? undefined : new TraceState(tracestate);

async function unlessAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort);
  try {
    await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
