import type { Telemetry } from 'bullmq';
import { BullMQOtel } from 'bullmq-otel';

/**
 * BullMQ's metrics, and its spans on request alone. A no-op step would have ten such spans, half about an idle worker. BullMQ records an error
 * with its message, which may have content. The spans of the log tell what a job waits and does.
 */
export function openQueueTelemetry(service: { version: string }, spans: boolean): Telemetry {
  const telemetry = new BullMQOtel({ tracerName: 'holdpoint', version: service.version, enableMetrics: true });
  if (spans) return telemetry;
  const { meter } = telemetry;
  const span = {
    setSpanOnContext: (context: unknown) => context,
    ...{ setAttribute: ignore, setAttributes: ignore, addEvent: ignore, recordException: ignore, end: ignore },
  };
  return {
    ...(meter && { meter }),
    tracer: { startSpan: () => span },
    contextManager: {
      with: (_context, work) => work(),
      active: () => undefined as never,
      getMetadata: () => '',
      fromMetadata: (active) => active,
    },
  };
}

const ignore = (): void => undefined;
