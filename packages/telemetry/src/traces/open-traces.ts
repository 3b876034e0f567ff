import { context, type DiagLogger, DiagLogLevel, diag, logs, propagation, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { resourceOf } from '../resource.ts';
import { stopWithin } from '../stop-within.ts';
import { openBoundedProcessor } from './bounded-processor.ts';
import { noLiveSpans, openLiveSpans } from './live-spans.ts';
import { openExporters } from './open-exporters.ts';
import { openSampler } from './open-sampler.ts';
import { openQueueTelemetry } from './queue-telemetry.ts';
import { reportDrops } from './report-drops.ts';
import { openRequestSpan } from './request-spans.ts';
import { isSampled, openRunSpanExporter } from './run-span-exporter.ts';
import { openSender } from './sender.ts';
import type { TraceSettings } from './trace-settings.ts';
import type { TraceDeps, Traces } from './traces.ts';

/** Registers the SDK with OpenTelemetry's API. One at a time in a process. */
export async function openTraces(deps: TraceDeps, settings: TraceSettings): Promise<Traces> {
  const { service, logger, onDropped = () => undefined, stopMs = 5000 } = deps;
  const drops = reportDrops(logger, onDropped);
  const { timeoutMs, queue } = settings;
  const exporters = await openExporters(settings);
  const senders = exporters.map((exporter) => openSender(exporter, { timeoutMs, onDropped: drops.dropped }));
  const resource = resourceOf(service);
  const sampler = openSampler(settings.sampler);
  const spanProcessors = senders.map((sender) => openBoundedProcessor(sender, queue, drops.dropped));
  const sdk = new NodeSDK({
    ...{ resource, sampler, spanProcessors },
    textMapPropagator: new W3CTraceContextPropagator(),
    // Metrics and logs have settings of their own: without these, the SDK would start them by the environment.
    ...{ metricReaders: [], logRecordProcessors: [], instrumentations: [], autoDetectResources: false },
  });
  // After the SDK, which sends its lines to the console when OTEL_LOG_LEVEL is set.
  diag.setLogger(logTo(logger), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  sdk.start();
  const tracer = trace.getTracer('holdpoint', service.version);
  const origin = { resource, instrumentationScope: { name: 'holdpoint', version: service.version } };
  const runs = openRunSpanExporter({ origin, sampler, senders, per: settings.per });
  const stop = async (): Promise<void> => {
    await stopWithin(stopMs, () => sdk.shutdown());
    drops.stop();
    for (const api of [trace, logs, context, propagation, diag]) api.disable();
  };
  let stopped: Promise<void> | undefined;
  return {
    take: runs.take,
    request: (method, caller) => openRequestSpan(tracer, method, caller),
    // Which segment a process works for is not known to it.
    live:
      settings.per === 'segment'
        ? noLiveSpans
        : openLiveSpans({
            tracer,
            isSampled: (place) => isSampled(sampler, place),
          }),
    queues: openQueueTelemetry(service, settings.queues),
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}

/** The SDK's own lines. They would go to the console otherwise, and standard output belongs to the program that started this one. */
function logTo(logger: TraceDeps['logger']): DiagLogger {
  const at =
    (level: 'warn' | 'debug') =>
    (message: string): void =>
      logger[level]({ event: 'opentelemetry', err: { message: message.slice(0, 500) } }, 'telemetry is in trouble');
  return { error: at('warn'), warn: at('warn'), info: at('debug'), debug: at('debug'), verbose: at('debug') };
}
