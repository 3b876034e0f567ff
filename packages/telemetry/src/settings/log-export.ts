/** How a process sends its log by OTLP. The exporter reads endpoint, headers and certificates from OTEL_*. */
export interface LogExportSettings {
  protocol: string;
  queue: { size: number; batch: number; delayMs: number };
  /** Milliseconds permitted to a request. */
  timeoutMs: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** @returns undefined unless OTEL_LOGS_EXPORTER names otlp: an endpoint alone sends no logs. @throws Error naming the variable */
export function logExportFrom(env: Environment): LogExportSettings | undefined {
  const names = (env.OTEL_LOGS_EXPORTER ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  for (const name of names) {
    if (name === 'otlp' || name === 'none') continue;
    throw new Error(`OTEL_LOGS_EXPORTER: expected otlp or none, not ${JSON.stringify(name)}`);
  }
  if (env.OTEL_SDK_DISABLED === 'true' || names.includes('none') || !names.includes('otlp')) return undefined;
  const size = positive(env.OTEL_BLRP_MAX_QUEUE_SIZE) ?? 2048;
  return {
    protocol: (env.OTEL_EXPORTER_OTLP_LOGS_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL || 'http/protobuf').trim(),
    queue: {
      size,
      batch: Math.min(size, positive(env.OTEL_BLRP_MAX_EXPORT_BATCH_SIZE) ?? 512),
      delayMs: positive(env.OTEL_BLRP_SCHEDULE_DELAY) ?? 1000,
    },
    timeoutMs: positive(env.OTEL_EXPORTER_OTLP_LOGS_TIMEOUT) ?? positive(env.OTEL_EXPORTER_OTLP_TIMEOUT) ?? 10_000,
  };
}

function positive(text: string | undefined): number | undefined {
  const value = Number(text);
  return text !== undefined && value > 0 && Number.isSafeInteger(value) ? value : undefined;
}
