/** Who reads the metrics of a process. Without either, nothing is counted. */
export interface MetricsSettings {
  scraped?: ScrapedSetting | undefined;
  otlp?: OtlpSetting | undefined;
}

/** Where a process shows its metrics. A worker listens there; the API has them on its own port. */
export interface ScrapedSetting {
  host: string;
  /** 0: any free port. */
  port: number;
  /** Whether the API shows its metrics without a key. */
  isOpen: boolean;
}

/** From OTEL_*. The exporter reads endpoint, headers and temporality. */
export interface OtlpSetting {
  protocol: string | undefined;
  intervalMs: number;
  timeoutMs: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** @throws Error naming the variable */
export const metricsSettingsFrom = (env: Environment): MetricsSettings => ({
  scraped: scrapedFrom(env),
  otlp: otlpFrom(env),
});

const defaults = { host: '127.0.0.1', port: 9464 };

/**
 * HOLDPOINT_METRICS: `off`, `on`, `PORT` or `HOST:PORT`. HOLDPOINT_METRICS_ACCESS: `key` or `open`.
 * @returns undefined: there are none
 */
function scrapedFrom(env: Environment): ScrapedSetting | undefined {
  const access = env.HOLDPOINT_METRICS_ACCESS || 'key';
  if (access !== 'key' && access !== 'open') {
    throw new Error(`HOLDPOINT_METRICS_ACCESS: expected key or open, not ${JSON.stringify(access)}`);
  }
  const text = (env.HOLDPOINT_METRICS ?? '').trim();
  if (text === '' || text === 'off') return undefined;
  const isOpen = access === 'open';
  if (text === 'on') return { ...defaults, isOpen };
  const { host = defaults.host, port } =
    /^(?:(?<host>\[[0-9a-fA-F:.]+\]|[^\s:[\]]+):)?(?<port>\d{1,5})$/.exec(text)?.groups ?? {};
  if (port === undefined || Number(port) > 65_535) {
    throw new Error(
      `HOLDPOINT_METRICS: expected on, off, PORT or HOST:PORT such as 127.0.0.1:9464, not ${JSON.stringify(text)}`,
    );
  }
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port), isOpen };
}

function otlpFrom(env: Environment): OtlpSetting | undefined {
  const exporters = (env.OTEL_METRICS_EXPORTER ?? '').split(',').map((name) => name.trim());
  const isAsked = exporters.includes('otlp') || (env.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT ?? '') !== '';
  // Without a name of its own, metrics go where everything goes.
  const isCommon = (env.OTEL_EXPORTER_OTLP_ENDPOINT ?? '') !== '' && exporters.every((name) => name === '');
  if (env.OTEL_SDK_DISABLED === 'true' || exporters.includes('none') || !(isAsked || isCommon)) return undefined;
  const intervalMs = positive(env.OTEL_METRIC_EXPORT_INTERVAL) ?? 60_000;
  return {
    protocol: (env.OTEL_EXPORTER_OTLP_METRICS_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL || '').trim(),
    intervalMs,
    timeoutMs: Math.min(positive(env.OTEL_METRIC_EXPORT_TIMEOUT) ?? 30_000, intervalMs),
  };
}

function positive(text: string | undefined): number | undefined {
  const value = Number(text);
  return text !== undefined && value > 0 && Number.isFinite(value) ? value : undefined;
}
