import type { Telemetry } from 'bullmq';

/**
 * BullMQ's spans, on request alone. A no-op step would have ten of them, half about an idle worker. BullMQ records an error with its
 * message, possibly with content. The spans of the log show the waits and the work of a job.
 */
export async function openQueueTelemetry(service: { version: string }): Promise<Telemetry> {
  const { BullMQOtel } = await import('bullmq-otel');
  return new BullMQOtel({ tracerName: 'holdpoint', version: service.version });
}
