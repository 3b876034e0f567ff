import { type LogLevel, logLevelChangeSchema } from '@holdpoint/contract/wire';
import type { Redis } from 'ioredis';
import { logLevelChannel } from '../log/keys.ts';
import type { Logger } from '../ports/index.ts';

/** Changes the log level of running processes until they end. @returns the number of processes that received the change */
export const setLogLevel = (
  redis: Redis,
  change: { level: LogLevel; of: 'api' | 'workers' | 'all' },
): Promise<number> => redis.publish(logLevelChannel, JSON.stringify(change));

interface Watched {
  subscriber: Redis;
  /** The logger whose level is set. */
  logger: Logger & { level: string };
  is: 'api' | 'workers';
}

/** Sets this process's log level on an operator's request. `default`: the level at the start of the process. */
export async function watchLogLevel({ subscriber, logger, is }: Watched): Promise<{ stop(): void }> {
  const started = logger.level;
  const onMessage = (channel: string, text: string): void => {
    if (channel !== logLevelChannel) return;
    const change = logLevelChangeSchema.safeParse(JSON.parse(text));
    if (!change.success || !['all', is].includes(change.data.of)) return;
    const level = change.data.level === 'default' ? started : change.data.level;
    // Logged before the change: the old level decides whether the line appears.
    const fields = { event: 'log_level', from: logger.level, to: level };
    logger.warn(fields, 'the level of the log changes');
    logger.level = level;
  };
  subscriber.on('message', onMessage);
  await subscriber.subscribe(logLevelChannel);
  return { stop: () => void subscriber.off('message', onMessage) };
}
