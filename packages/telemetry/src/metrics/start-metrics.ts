import type { Service } from '../resource.ts';
import type { MetricsSettings } from '../settings/metrics.ts';
import type { TelemetryThread } from '../thread/telemetry-thread.ts';
import { type Metrics, noMetrics } from './metrics.ts';

/**
 * Starts the metrics of a process. Without a reader the SDK is not imported.
 * @param options.thread the process's thread
 * @param options.stopMs milliseconds permitted to the end
 */
export async function startMetrics(
  service: Service,
  { scraped, otlp }: MetricsSettings,
  { thread, stopMs }: { thread: TelemetryThread; stopMs?: number },
): Promise<Metrics> {
  if (scraped === undefined && otlp === undefined) return noMetrics;
  const { openMetrics } = await import('./open-metrics.ts');
  return openMetrics({ service, otlp, thread, stopMs });
}
