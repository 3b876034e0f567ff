import * as telemetry from '@holdpoint/telemetry';
import { ConfigError } from '../runtime-config.ts';

/** Opens the metrics of a worker, and the address for scraping them. @throws ConfigError when the address is taken */
export async function openWorkerMetrics(
  service: Parameters<typeof telemetry.startMetrics>[0],
  settings: telemetry.MetricsSettings,
  thread: telemetry.TelemetryThread,
): Promise<{ metrics: telemetry.Metrics; served?: telemetry.MetricsServer }> {
  const metrics = await telemetry.startMetrics(service, settings, { thread });
  if (settings.scraped === undefined) return { metrics };
  try {
    return { metrics, served: await telemetry.serveMetrics(settings.scraped, metrics) };
  } catch (cause) {
    if (!(cause instanceof telemetry.MetricsPlaceError)) throw cause;
    throw new ConfigError(`${cause.message} ${cause.next}`, { cause });
  }
}
