import type { DiagLogger } from '@opentelemetry/api';

interface Log {
  warn(fields: object, message: string): void;
  debug(fields: object, message: string): void;
}

/** The SDK's own lines. Otherwise they would go to the console, and standard output belongs to the parent program. */
export function diagTo(logger: Log): DiagLogger {
  const at =
    (level: 'warn' | 'debug') =>
    (message: string): void =>
      logger[level]({ event: 'opentelemetry', err: { message: message.slice(0, 500) } }, 'telemetry is in trouble');
  return { error: at('warn'), warn: at('warn'), info: at('debug'), debug: at('debug'), verbose: at('debug') };
}
