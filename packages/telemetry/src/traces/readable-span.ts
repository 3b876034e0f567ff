import type { EndedSpans, TraceSpan } from '@holdpoint/contract';
import { genAi, genAiOperation } from '@holdpoint/contract/names';
import { type HrTime, type SpanContext, SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';

/** The common part of all spans of a process. */
export type SpanOrigin = Pick<ReadableSpan, 'resource' | 'instrumentationScope'>;
export type SpanTrace = Pick<SpanContext, 'traceId' | 'traceState'>;

/** A span of a log in the SDK's export form: with the ids and times of the log. */
export function readableSpan(origin: SpanOrigin, trace: SpanTrace, span: TraceSpan): ReadableSpan {
  const at = (spanId: string, isRemote = false): SpanContext => ({
    ...trace,
    ...{ spanId, traceFlags: TraceFlags.SAMPLED, isRemote },
  });
  const own = at(span.span_id);
  const startTime = timeOf(span.start);
  const endTime = timeOf(span.end ?? span.start);
  return {
    ...origin,
    name: span.name,
    // A request to a model, as the GenAI conventions have it.
    kind: span.attributes[genAi.operation] === genAiOperation.chat ? SpanKind.CLIENT : SpanKind.INTERNAL,
    spanContext: () => own,
    ...(span.parent_id === null ? {} : { parentSpanContext: at(span.parent_id, span.kind === 'run') }),
    ...{ startTime, endTime, duration: between(startTime, endTime), ended: true },
    status: { code: statusCodes[span.status], ...(span.message === undefined ? {} : { message: span.message }) },
    attributes: span.attributes,
    events: span.events.map(({ name, time, attributes }) => ({ name, time: timeOf(time), attributes })),
    links: span.links.map(({ trace_id, span_id, attributes }) => ({
      context: { traceId: trace_id, spanId: span_id, traceFlags: TraceFlags.SAMPLED, isRemote: true },
      attributes,
    })),
    ...{ droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0 },
  };
}

const statusCodes: Record<TraceSpan['status'], SpanStatusCode> = {
  unset: SpanStatusCode.UNSET,
  ok: SpanStatusCode.OK,
  error: SpanStatusCode.ERROR,
};

/** Seconds and nanoseconds. */
function timeOf(iso: EndedSpans['spans'][number]['start']): HrTime {
  const ms = Date.parse(iso);
  return [Math.floor(ms / 1000), (ms % 1000) * 1_000_000];
}

function between([fromS, fromNs]: HrTime, [toS, toNs]: HrTime): HrTime {
  const nanoseconds = toNs - fromNs;
  return nanoseconds < 0 ? [toS - fromS - 1, nanoseconds + 1_000_000_000] : [toS - fromS, nanoseconds];
}
