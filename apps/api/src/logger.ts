import { logOptions, openDestination } from '@holdpoint/telemetry';
import { type DestinationStream, type Logger, pino } from 'pino';
import type { Config } from './config.ts';

/** JSON lines on standard error: standard output belongs to the supervisor. Keys never reach a log. */
export const createLogger = (
  { logLevel, secrets }: Pick<Config, 'logLevel' | 'secrets'>,
  destination?: DestinationStream,
  traceOf?: (runId: string) => string,
): Logger =>
  pino(
    {
      ...logOptions({
        isUnique: isInternalError,
        redact: (line) => secrets.logRedactor().text(line),
        ...(traceOf !== undefined && { traceOf }),
      }),
      name: 'api',
      level: logLevel,
      redact: ['authorization', '*.authorization', '*.headers.authorization', 'headers.authorization'],
    },
    destination ?? openDestination(2),
  );

/** The answer names the request id of an internal error, for a search in the log. */
const isInternalError = (fields: object): boolean => 'code' in fields && fields.code === 'internal';
