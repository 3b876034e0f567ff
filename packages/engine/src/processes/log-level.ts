import { type LogLevel, logLevelChangeSchema } from '@holdpoint/contract/wire';
import type { Redis } from 'ioredis';
import { logLevelChannel } from '../log/keys.ts';
import type { Logger } from '../ports/index.ts';

/** Changes what processes log from now on, until they end. @returns how many processes learned of it */
export const setLogLevel = (
  redis: Redis,
  change: { level: LogLevel; of: 'api' | 'workers' | 'all' },
): Promise<number> => redis.publish(logLevelChannel, JSON.stringify(change));

interface Watched {
  subscriber: Redis;
  /** Its level is set. */
  logger: Logger & { level: string };
  is: 'api' | 'workers';
}

/** Sets the level of this process's log when an operator asks for it. `default`: the level that it was started with. */
export async function watchLogLevel({ subscriber, logger, is }: Watched): Promise<{ stop(): void }> {
  const started = logger.level;
  const onMessage = (channel: string, text: string): void => {
    if (channel !== logLevelChannel) return;
    const change = logLevelChangeSchema.safeParse(JSON.parse(text));
    if (!change.success || !['all', is].includes(change.data.of)) return;
    const level = change.data.level === 'default' ? started : change.data.level;
    // Logged on both sides of the change, so that one of the two levels shows it.
    const fields = { event: 'log_level', from: logger.level, to: level };
    logger.warn(fields, 'the level of the log changes');
    logger.level = level;
  };
  subscriber.on('message', onMessage);
  await subscriber.subscribe(logLevelChannel);
  return { stop: () => void subscriber.off('message', onMessage) };
}
