import type { TraceContext } from '@holdpoint/contract';
import * as otel from '@opentelemetry/api';
import { parseTraceParent, TraceState, W3CTraceContextPropagator } from '@opentelemetry/core';
import { NodeSDK } from '@opentelemetry/sdk-node';
import type { SpanProcessor } from '@opentelemetry/sdk-trace';
import type { Telemetry } from 'bullmq';
import { Outbox } from '../outbox.ts';
import { resourceOf } from '../resource.ts';
import type { TraceSettings } from '../settings/traces.ts';
import { stopWithin } from '../stop-within.ts';
import { diagTo } from './diag-to.ts';
import { openSampler, type PostedSpan, postedSpan } from './open-span-sender.ts';
import { isSampled } from './run-span-exporter.ts';
import * as traces from './traces.ts';

interface Deps {
  tracer: otel.Tracer;
  isSampled(place: traces.SpanPlace): boolean;
}

/** Attributes of all live spans below a place. */
const commonKey = otel.createContextKey('holdpoint common attributes');

/** Spans recorded live, below a span with a computed id. Without such a parent no span is recorded, so each belongs to a run. */
function openLiveSpans({ tracer, isSampled }: Deps): traces.LiveSpans {
  const contextOf = (place: traces.SpanPlace): otel.Context => {
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
  const start = ({ name, kind = 'internal', attributes }: traces.NewLiveSpan, startTime?: number) => {
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

const noLiveSpans: traces.LiveSpans = {
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

/** Registers the SDK with OpenTelemetry's API. A process has one registration at a time. Ended spans go to the thread. */
export async function openTraces(deps: traces.TraceDeps, settings: TraceSettings): Promise<traces.Traces> {
  const { thread, service, logger, onDropped = () => undefined, stopMs = 5000 } = deps;
  const drops = traces.reportDrops(logger, onDropped);
  thread.onDropped('spans', (spans, error) => drops.dropped(spans, 'not_sent', error));
  const outbox = new Outbox<PostedSpan>({
    ...settings.queue,
    send: (spans) =>
      thread.ask<void>('spans', spans).catch((error: Error) => drops.dropped(spans.length, 'not_sent', error)),
    onFull: () => drops.dropped(1, 'queue_full'),
  });
  const sampler = openSampler(settings.sampler);
  const sdk = new NodeSDK({
    ...{ resource: resourceOf(service), sampler, spanProcessors: [postTo(outbox)] },
    textMapPropagator: new W3CTraceContextPropagator(),
    // Metrics and logs have settings of their own: without these, the SDK would start them by the environment.
    ...{ metricReaders: [], logRecordProcessors: [], instrumentations: [], autoDetectResources: false },
  });
  // After the SDK, because the SDK sends its lines to the console when OTEL_LOG_LEVEL is set.
  otel.diag.setLogger(diagTo(logger), { logLevel: otel.DiagLogLevel.WARN, suppressOverrideMessage: true });
  sdk.start();
  // The thread starts now: the bounded end of a short process may have no time for the start.
  thread.ask('take', []).catch(() => undefined);
  const tracer = otel.trace.getTracer('holdpoint', service.version);
  const stop = async (): Promise<void> => {
    await stopWithin(stopMs, () => sdk.shutdown());
    drops.stop();
    for (const api of [otel.trace, otel.logs, otel.context, otel.propagation, otel.diag]) api.disable();
  };
  let stopped: Promise<void> | undefined;
  return {
    take: (batch, signal) => thread.ask('take', batch, signal),
    request: (method, caller) => openRequestSpan(tracer, method, caller),
    // A process does not know the segment of its work.
    live:
      settings.per === 'segment'
        ? noLiveSpans
        : openLiveSpans({
            tracer,
            isSampled: (place) => isSampled(sampler, place),
          }),
    queues: settings.queues ? await openQueueTelemetry(service) : undefined,
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}

const postTo = (outbox: Outbox<PostedSpan>): SpanProcessor => ({
  onStart: () => undefined,
  onEnd(span) {
    if (span.spanContext().traceFlags & otel.TraceFlags.SAMPLED) outbox.put(postedSpan(span));
  },
  forceFlush: () => outbox.flush(),
  shutdown: () => outbox.flush(),
});

/**
 * BullMQ's spans, on request alone. A no-op step would have ten of them, half about an idle worker. BullMQ records an error with its
 * message, possibly with content. The spans of the log show the waits and the work of a job.
 */
async function openQueueTelemetry(service: { version: string }): Promise<Telemetry> {
  const { BullMQOtel } = await import('bullmq-otel');
  return new BullMQOtel({ tracerName: 'holdpoint', version: service.version });
}

/** A span of a request to a server, in the trace of its caller if the request names a trace. */
function openRequestSpan(tracer: otel.Tracer, method: string, caller: TraceContext | undefined): traces.RequestSpan {
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
