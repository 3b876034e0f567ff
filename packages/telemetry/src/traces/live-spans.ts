import * as otel from '@opentelemetry/api';
import { TraceState } from '@opentelemetry/core';
import type { LiveSpans, NewLiveSpan, SpanPlace } from './traces.ts';

interface Deps {
  tracer: otel.Tracer;
  isSampled(place: SpanPlace): boolean;
}

/** Attributes of all live spans below a place. */
const commonKey = otel.createContextKey('holdpoint common attributes');

/** Spans recorded live, below a span with a computed id. Without such a parent no span is recorded, so each belongs to a run. */
export function openLiveSpans({ tracer, isSampled }: Deps): LiveSpans {
  const contextOf = (place: SpanPlace): otel.Context => {
    const { run_id, trace_id: traceId, span_id: spanId, tracestate, attributes } = place;
    const parent = {
      ...{ traceId, spanId, isRemote: true },
      traceFlags: isSampled(place) ? otel.TraceFlags.SAMPLED : otel.TraceFlags.NONE,
      ...(tracestate !== undefined && { traceState: new TraceState(tracestate) }),
    };
    return otel.trace
      .setSpanContext(otel.ROOT_CONTEXT, parent)
      .setValue(commonKey, { 'holdpoint.run.id': run_id, ...attributes });
  };
  const start = ({ name, kind = 'internal', attributes }: NewLiveSpan, startTime?: number) => {
    const active = otel.context.active();
    const common = active.getValue(commonKey);
    if (common === undefined) return undefined;
    const options = { kind: kinds[kind], attributes: { ...common, ...attributes } };
    return tracer.startSpan(name, startTime === undefined ? options : { ...options, startTime }, active);
  };
  return {
    within: (placeOf, work) => otel.context.with(new LazyContext(() => contextOf(placeOf())), work),
    async during(about, work) {
      const span = start(about);
      if (span === undefined) return work(() => undefined);
      try {
        return await otel.context.with(otel.trace.setSpan(otel.context.active(), span), () =>
          work((attributes) => void span.setAttributes(attributes as otel.Attributes)),
        );
      } catch (error) {
        const code = codeOf(error);
        span.setAttribute('error.type', code).setStatus({ code: otel.SpanStatusCode.ERROR, message: code });
        throw error;
      } finally {
        span.end();
      }
    },
    add({ startTime, endTime, error, ...about }) {
      const span = start(about, startTime);
      if (error !== undefined)
        span?.setAttribute('error.type', error).setStatus({ code: otel.SpanStatusCode.ERROR, message: error });
      span?.end(endTime);
    },
  };
}

export const noLiveSpans: LiveSpans = {
  within: (_placeOf, work) => work(),
  during: (_span, work) => work(() => undefined),
  add: () => undefined,
};

const kinds = { internal: otel.SpanKind.INTERNAL, client: otel.SpanKind.CLIENT, consumer: otel.SpanKind.CONSUMER };

/** The code alone: the message of an error may have content. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'error';
  return 'code' in error && typeof error.code === 'string' ? error.code.slice(0, 100) : error.name;
}

/** A context made at its first use. Most work has no span, and the ids of its place cost more than the rest of the context. */
class LazyContext implements otel.Context {
  readonly #make: () => otel.Context;
  #made: otel.Context | undefined;

  constructor(make: () => otel.Context) {
    this.#make = make;
  }

  getValue(key: symbol): unknown {
    return this.#context().getValue(key);
  }

  setValue(key: symbol, value: unknown): otel.Context {
    return this.#context().setValue(key, value);
  }

  deleteValue(key: symbol): otel.Context {
    return this.#context().deleteValue(key);
  }

  #context(): otel.Context {
    this.#made ??= this.#make();
    return this.#made;
  }
}
