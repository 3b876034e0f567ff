import type { TraceContext } from '@holdpoint/contract';
import * as otel from '@opentelemetry/api';
import { parseTraceParent, TraceState } from '@opentelemetry/core';
import type { RequestSpan } from './traces.ts';

/** A span of a request to a server, in the trace of its caller if the request names a trace. */
export function openRequestSpan(tracer: otel.Tracer, method: string, caller: TraceContext | undefined): RequestSpan {
  const span = tracer.startSpan(
    method,
    { kind: otel.SpanKind.SERVER, attributes: { 'http.request.method': method } },
    contextOf(caller),
  );
  return {
    context() {
      const { traceId, spanId, traceFlags } = span.spanContext();
      const flags = (traceFlags & 1).toString(16).padStart(2, '0');
      return { traceparent: `00-${traceId}-${spanId}-${flags}`, tracestate: caller?.tracestate };
    },
    about({ run_id, trace_id: traceId, span_id: spanId }) {
      span.setAttribute('holdpoint.run.id', run_id);
      if (traceId !== span.spanContext().traceId)
        span.addLink({ context: { traceId, spanId, traceFlags: 1, isRemote: true } });
    },
    end({ route, status }) {
      if (route !== undefined) span.updateName(`${method} ${route}`).setAttribute('http.route', route);
      span.setAttribute('http.response.status_code', status);
      if (status >= 500) span.setAttribute('error.type', String(status)).setStatus({ code: otel.SpanStatusCode.ERROR });
      span.end();
    },
  };
}

function contextOf(caller: TraceContext | undefined): otel.Context {
  const parent: otel.SpanContext | null = caller === undefined ? null : parseTraceParent(caller.traceparent);
  if (parent === null) return otel.ROOT_CONTEXT;
  const traceState = caller?.tracestate === undefined ? {} : { traceState: new TraceState(caller.tracestate) };
  return otel.trace.setSpanContext(otel.ROOT_CONTEXT, { ...parent, ...traceState, isRemote: true });
}
