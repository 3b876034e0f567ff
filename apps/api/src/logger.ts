import { type DestinationStream, type Logger, pino } from 'pino';
import type { Config } from './config.ts';

/** JSON lines on standard error: standard output belongs to what a supervisor reads. Keys never reach a log. */
export const createLogger = ({ logLevel }: Pick<Config, 'logLevel'>, destination?: DestinationStream): Logger =>
  pino(
    {
      name: 'api',
      level: logLevel,
      redact: ['authorization', '*.authorization', '*.headers.authorization', 'headers.authorization'],
    },
    destination ?? pino.destination({ dest: 2, sync: true }),
  );
