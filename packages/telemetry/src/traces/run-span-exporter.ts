import type { EndedSpans, TraceSpan } from '@holdpoint/contract';
import { attribute, genAi, genAiOperation, general, linkType, spanName } from '@holdpoint/contract/names';
import * as otel from '@opentelemetry/api';
import { ExportResultCode, parseTraceParent, TraceState } from '@opentelemetry/core';
import { type ReadableSpan, type Sampler, SamplingDecision, type SpanExporter } from '@opentelemetry/sdk-trace';
import { exportWithin } from '../export-within.ts';
import type { TraceSettings } from '../settings/traces.ts';
import { spanOfSegment, spanOfSubmission, traceOfSegment } from './span-ids.ts';

/** The common part of all spans of a process. */
type SpanOrigin = Pick<ReadableSpan, 'resource' | 'instrumentationScope'>;
type SpanTrace = Pick<otel.SpanContext, 'traceId' | 'traceState'>;

/** A span of a log in the SDK's export form: with the ids and times of the log. */
function readableSpan(origin: SpanOrigin, trace: SpanTrace, span: TraceSpan): ReadableSpan {
  const at = (spanId: string, isRemote = false): otel.SpanContext => ({
    ...trace,
    ...{ spanId, traceFlags: otel.TraceFlags.SAMPLED, isRemote },
  });
  const own = at(span.span_id);
  const startTime = timeOf(span.start);
  const endTime = timeOf(span.end ?? span.start);
  return {
    ...origin,
    name: span.name,
    // A request to a model, as the GenAI conventions have it.
    kind: span.attributes[genAi.operation] === genAiOperation.chat ? otel.SpanKind.CLIENT : otel.SpanKind.INTERNAL,
    spanContext: () => own,
    ...(span.parent_id === null ? {} : { parentSpanContext: at(span.parent_id, span.kind === 'run') }),
    ...{ startTime, endTime, duration: between(startTime, endTime), ended: true },
    status: { code: statusCodes[span.status], ...(span.message === undefined ? {} : { message: span.message }) },
    attributes: span.attributes,
    events: span.events.map(({ name, time, attributes }) => ({ name, time: timeOf(time), attributes })),
    links: span.links.map(({ trace_id, span_id, attributes }) => ({
      context: { traceId: trace_id, spanId: span_id, traceFlags: otel.TraceFlags.SAMPLED, isRemote: true },
      attributes,
    })),
    ...{ droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0 },
  };
}

const statusCodes: Record<TraceSpan['status'], otel.SpanStatusCode> = {
  unset: otel.SpanStatusCode.UNSET,
  ok: otel.SpanStatusCode.OK,
  error: otel.SpanStatusCode.ERROR,
};

/** Seconds and nanoseconds. */
function timeOf(iso: EndedSpans['spans'][number]['start']): otel.HrTime {
  const ms = Date.parse(iso);
  return [Math.floor(ms / 1000), (ms % 1000) * 1_000_000];
}

function between([fromS, fromNs]: otel.HrTime, [toS, toNs]: otel.HrTime): otel.HrTime {
  const nanoseconds = toNs - fromNs;
  return nanoseconds < 0 ? [toS - fromS - 1, nanoseconds + 1_000_000_000] : [toS - fromS, nanoseconds];
}

interface SenderOptions {
  /** Milliseconds permitted to an export, for any receiver. */
  timeoutMs: number;
  onDropped(spans: number, error: Error | undefined): void;
}

/**
 * Sends spans to a receiver. The receiver may be slow, full, gone, or give any answer. Resolves when they are sent or given up; never
 * rejects.
 */
export type Sender = (spans: ReadableSpan[]) => Promise<void>;

/** An exporter with a time bound, even against a receiver with slow single bytes, and a count of the unsent spans. */
export const openSender =
  (exporter: SpanExporter, { timeoutMs, onDropped }: SenderOptions): Sender =>
  async (spans) => {
    const { code, error } = await exportWithin(exporter, spans, timeoutMs);
    if (code !== ExportResultCode.SUCCESS) onDropped(spans.length, error);
  };

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
        const placed = per === 'segment' ? splitTrace(run) : wholeTrace(run);
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
  const context = caller === undefined ? otel.ROOT_CONTEXT : otel.trace.setSpanContext(otel.ROOT_CONTEXT, caller);
  const { decision } = sampler.shouldSample(context, run.trace_id, 'run', otel.SpanKind.INTERNAL, {}, []);
  return decision === SamplingDecision.RECORD_AND_SAMPLED;
}

const callerOf = ({ traceparent }: Pick<EndedSpans, 'traceparent'>): otel.SpanContext | undefined => {
  const caller = traceparent === undefined ? null : parseTraceParent(traceparent);
  return caller === null ? undefined : { ...caller, isRemote: true };
};

const traceStateOf = ({ tracestate }: EndedSpans): otel.SpanContext['traceState'] =>
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

/** A span, and the trace of its export. */
interface PlacedSpan {
  traceId: string;
  span: TraceSpan;
}

/**
 * The span of the run ends with the run, so a store would have no root while the run works or waits. The short span of the submission goes out
 * first, in its place: all that is below the run, and the run itself, are below the submission.
 */
function wholeTrace(run: EndedSpans): PlacedSpan[] {
  const caller = callerOf(run)?.spanId ?? null;
  const root = spanOfSubmission(run.run_id);
  const isTop = ({ parent_id }: TraceSpan) =>
    parent_id === caller || parent_id === null || parent_id === run.run_span_id;
  const spans = run.spans.map((span) => (isTop(span) ? { ...span, parent_id: root } : span));
  return [...submission(run, caller), ...spans].map((span) => ({ traceId: run.trace_id, span }));
}

function submission({ run_id, submitted }: EndedSpans, caller: string | null): TraceSpan[] {
  if (submitted === undefined) return [];
  const { time, toolset } = submitted;
  return [
    {
      ...{ span_id: spanOfSubmission(run_id), parent_id: caller, kind: 'run', name: spanName.submission(toolset) },
      ...{ start: time, end: time, status: 'ok', events: [], links: [] },
      attributes: { [attribute.runId]: run_id, [attribute.toolset]: toolset },
    },
  ];
}

/**
 * A trace per segment, for runs of thousands of steps. Spans with their beginning in a segment are in its trace, below the span of the
 * segment. The segment's span links to the run and to the segment before. The span of the run is in the trace of the run.
 */
const splitTrace = (run: EndedSpans): PlacedSpan[] =>
  run.spans.map((span, at) => {
    const segment = run.segments?.[at] ?? 0;
    if (segment === 0) return { traceId: run.trace_id, span };
    const traceId = traceOfSegment(run.run_id, segment);
    return { traceId, span: span.kind === 'segment' ? asRoot(run, span, segment) : inSegment(run, span, segment) };
  });

function asRoot({ run_id, trace_id }: EndedSpans, span: TraceSpan, segment: number): TraceSpan {
  const toRun = { trace_id, span_id: span.parent_id ?? '', attributes: { [attribute.linkType]: linkType.run } };
  const links = span.links.map((link) =>
    link.attributes[attribute.linkType] === linkType.previous
      ? { ...link, trace_id: traceOfSegment(run_id, segment - 1) }
      : link,
  );
  return { ...span, parent_id: null, links: [...(span.parent_id === null ? [] : [toRun]), ...links] };
}

/** A span over several segments is below the run; here the span is below the first of the segments. */
const inSegment = ({ run_id, run_span_id }: EndedSpans, span: TraceSpan, segment: number): TraceSpan =>
  span.parent_id === run_span_id ? { ...span, parent_id: spanOfSegment(run_id, segment) } : span;

/** A call of an unknown tool: the model made the tool's name up, so the name is content. */
function withoutContent(span: TraceSpan): TraceSpan {
  if (span.attributes[general.errorType] !== unknownTool || span.kind !== 'step') return span;
  const { [genAi.toolName]: _name, ...attributes } = span.attributes;
  return { ...span, name: spanName.step('unknown'), attributes };
}

const unknownTool = 'EUNKNOWNTOOL';
