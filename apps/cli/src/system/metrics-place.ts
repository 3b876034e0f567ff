import { metricsSettingsFrom } from '@holdpoint/telemetry/settings';

/** HOLDPOINT_METRICS for each of several workers of a machine: each has the next port. The worker refuses an unreadable value. */
export function metricsPlace(
  environment: Readonly<Record<string, string>>,
  index: number,
): { HOLDPOINT_METRICS?: string } {
  const scraped = settingOf(environment);
  if (scraped === undefined || scraped.port === 0) return {};
  const { host, port } = scraped;
  return { HOLDPOINT_METRICS: `${host.includes(':') ? `[${host}]` : host}:${port + index}` };
}

function settingOf(environment: Readonly<Record<string, string>>) {
  try {
    return metricsSettingsFrom(environment).scraped;
  } catch {
    return undefined;
  }
}
