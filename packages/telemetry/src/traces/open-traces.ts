import { context, DiagLogLevel, diag, logs, propagation, TraceFlags, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { NodeSDK } from '@opentelemetry/sdk-node';
import type { SpanProcessor } from '@opentelemetry/sdk-trace';
import type { Telemetry } from 'bullmq';
import { Outbox } from '../outbox.ts';
import { resourceOf } from '../resource.ts';
import type { TraceSettings } from '../settings/traces.ts';
import { stopWithin } from '../stop-within.ts';
import { diagTo } from './diag-to.ts';
import { noLiveSpans, openLiveSpans } from './live-spans.ts';
import { openSampler } from './open-sampler.ts';
import { type PostedSpan, postedSpan } from './posted-span.ts';
import { reportDrops } from './report-drops.ts';
import { openRequestSpan } from './request-spans.ts';
import { isSampled } from './run-span-exporter.ts';
import type { TraceDeps, Traces } from './traces.ts';

/** Registers the SDK with OpenTelemetry's API. A process has one registration at a time. Ended spans go to the thread. */
export async function openTraces(deps: TraceDeps, settings: TraceSettings): Promise<Traces> {
  const { thread, service, logger, onDropped = () => undefined, stopMs = 5000 } = deps;
  const drops = reportDrops(logger, onDropped);
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
  diag.setLogger(diagTo(logger), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  sdk.start();
  // The thread starts now: the bounded end of a short process may have no time for the start.
  thread.ask('take', []).catch(() => undefined);
  const tracer = trace.getTracer('holdpoint', service.version);
  const stop = async (): Promise<void> => {
    await stopWithin(stopMs, () => sdk.shutdown());
    drops.stop();
    for (const api of [trace, logs, context, propagation, diag]) api.disable();
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
    if (span.spanContext().traceFlags & TraceFlags.SAMPLED) outbox.put(postedSpan(span));
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
