export interface RunningTelemetry {
  metrics: EngineMetrics;
  /** Sends the remaining metrics. */
  stop(): Promise<void>;
}

/** The counters of the engine. No-op when telemetry is off. */
export interface EngineMetrics {
  repaired(what: string): void;
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
  if (!options.wanted) return { metrics: { repaired: () => {} }, stop: async () => {} };
  const [{ NodeSDK }, { metrics }] = await Promise.all([
    import('@opentelemetry/sdk-node'),
    import('@opentelemetry/api'),
  ]);
  const sdk = new NodeSDK({ serviceName: options.service, spanProcessors: [], logRecordProcessors: [] });
  sdk.start();
  const repairs = metrics.getMeter('holdpoint').createCounter('holdpoint.repairs', {
    description: 'Stuck runs, steps and tasks that the sweeper repaired, by class',
  });
  return {
    metrics: { repaired: (what) => repairs.add(1, { class: what }) },
    stop: () => sdk.shutdown(),
  };
}
