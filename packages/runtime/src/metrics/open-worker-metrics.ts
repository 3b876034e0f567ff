import {
  type Metrics,
  MetricsPlaceError,
  type MetricsServer,
  type MetricsSettings,
  serveMetrics,
  startMetrics,
  type TelemetryThread,
} from '@holdpoint/telemetry';
import { ConfigError } from '../runtime-config.ts';

/** Opens the metrics of a worker, and the address for scraping them. @throws ConfigError when the address is taken */
export async function openWorkerMetrics(
  service: Parameters<typeof startMetrics>[0],
  settings: MetricsSettings,
  thread: TelemetryThread,
): Promise<{ metrics: Metrics; served?: MetricsServer }> {
  const metrics = await startMetrics(service, settings, { thread });
  if (settings.scraped === undefined) return { metrics };
  try {
    return { metrics, served: await serveMetrics(settings.scraped, metrics) };
  } catch (cause) {
    if (!(cause instanceof MetricsPlaceError)) throw cause;
    throw new ConfigError(`${cause.message} ${cause.next}`, { cause });
  }
}
