import { join } from 'node:path';
import { findRedisBinaries, startEmbeddedRedis } from '@holdpoint/embedded-redis';
import { bindInstallation } from '@holdpoint/engine/installation';
import { connect, openRedis as connectToRedis, withoutPassword } from '@holdpoint/engine/redis';
import type { Config } from '../shell/index.ts';
import { quiet } from './quiet.ts';
import { superviseRedis } from './supervised-redis.ts';

export interface OpenedRedis {
  /** A URL, or the absolute path of a socket. */
  address: string;
  /** The socket of the embedded server; null for any other server. */
  socket: string | null;
  /** A short description without a password. */
  label: string;
  /** The log of the embedded server; null for any other. */
  logFile: string | null;
  /** Stops the embedded server; any other server is left running. */
  stop(): Promise<void>;
}

/**
 * Connects to the user's own Redis, or starts the embedded Redis of the data directory and keeps the server alive.
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

/**
 * Refuses a Redis of another data directory. Checked here because each part would refuse such a Redis at every restart.
 *
 * @throws InstallationError
 */
export async function checkInstallation(redisAddress: string, dataDir: string): Promise<void> {
  const connections = connect(redisAddress, quiet);
  try {
    await bindInstallation({ redis: connections.state, dataDir });
  } finally {
    await connections.close();
  }
}
