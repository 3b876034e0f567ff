import type { Telemetry } from 'bullmq';

export interface RunningTelemetry {
  /** For BullMQ's `telemetry` option: spans of queues and jobs, the trace context inside the job. Absent when telemetry is off. */
  queues?: Telemetry;
  /** Sends the remaining spans. */
  stop(): Promise<void>;
}

/** One of these standard variables turns OpenTelemetry on. Exporters, sampling and resources follow the other OTEL_* variables. */
const switches = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_TRACES_EXPORTER'];

export const telemetryWanted = (env: Record<string, string | undefined>): boolean =>
  env.OTEL_SDK_DISABLED !== 'true' && switches.some((name) => (env[name] ?? '') !== '');

/**
 * Starts OpenTelemetry's SDK for a process. When it is off, the SDK is not imported: the import takes longer than the rest of an app.
 * @param options.wanted see `telemetryWanted`
 */
export async function startTelemetry(options: { service: string; wanted: boolean }): Promise<RunningTelemetry> {
  if (!options.wanted) return { stop: async () => {} };
  const [{ NodeSDK }, { BullMQOtel }] = await Promise.all([import('@opentelemetry/sdk-node'), import('bullmq-otel')]);
  // Metrics have a provider of their own, which `/metrics` reads as well.
  const sdk = new NodeSDK({ serviceName: options.service, metricReaders: [] });
  sdk.start();
  return {
    queues: new BullMQOtel({ tracerName: options.service, enableMetrics: true }),
    stop: () => sdk.shutdown(),
  };
}
