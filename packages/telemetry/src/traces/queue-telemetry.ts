import type { Telemetry } from 'bullmq';

/**
 * BullMQ's spans, on request alone. A no-op step would have ten of them, half about an idle worker. BullMQ records an error with its message,
 * which may have content. The spans of the log tell what a job waits and does.
 */
export async function openQueueTelemetry(service: { version: string }): Promise<Telemetry> {
  const { BullMQOtel } = await import('bullmq-otel');
  return new BullMQOtel({ tracerName: 'holdpoint', version: service.version });
}
