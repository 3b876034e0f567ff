import { join } from 'node:path';
import { findRedisBinaries, startEmbeddedRedis } from '@holdpoint/embedded-redis';
import { openRedis as connectToRedis, withoutPassword } from '@holdpoint/engine/redis';
import type { Config } from '../config.ts';
import { quiet } from './quiet.ts';
import { superviseRedis } from './supervised-redis.ts';

export interface OpenedRedis {
  /** For REDIS_URL: a URL, or the absolute path of a socket. */
  address: string;
  /** Of the embedded server; null for any other. */
  socket: string | null;
  /** In a few words, without a password. */
  label: string;
  /** The log of the embedded server; null for any other. */
  logFile: string | null;
  /** Ends the embedded server; leaves any other alone. */
  stop(): Promise<void>;
}

/**
 * The user's own Redis, or the embedded one of the data directory: started unless it runs already, and from then on kept alive.
 *
 * @throws RedisStartError; EmbeddedRedisError
 */
export async function openRedis(
  config: Config,
  { signal, report }: { signal: AbortSignal; report: (text: string) => void },
): Promise<OpenedRedis> {
  if (config.redisUrl !== undefined) return openGiven(config.redisUrl, report);
  const { dataDir } = config;
  const start = async (ending: AbortSignal) =>
    startEmbeddedRedis({ dataDir, binaries: await findRedisBinaries(config.path, config.projectDir), signal: ending });
  const redis = await start(signal);
  const logFile = join(dataDir, 'redis', 'server.log');
  const endSupervision = superviseRedis(redis, { start, report, logFile });
  return {
    address: redis.path,
    socket: redis.path,
    label: `embedded ${redis.engine} ${redis.version}${redis.reused ? ', found running' : ''}`,
    logFile,
    async stop() {
      await endSupervision();
      await redis.stop();
    },
  };
}

async function openGiven(redisUrl: string, report: (text: string) => void): Promise<OpenedRedis> {
  const warn = (fields: object, message: string): void => {
    if (!('err' in fields)) report(`redis: ${message}`);
  };
  const connections = await connectToRedis({ address: redisUrl, patienceMs: 2000 }, { ...quiet, warn });
  await connections.close();
  const label = withoutPassword(redisUrl);
  return { address: redisUrl, socket: null, label, logFile: null, stop: async () => undefined };
}
