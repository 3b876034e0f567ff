import { connect } from '@holdpoint/engine/redis/connect';
import { startEmbeddedRedis } from '@holdpoint/engine/redis/embedded-redis';
import { findRedisBinaries } from '@holdpoint/engine/redis/find-redis-binaries';
import type { Config } from '../config.ts';
import { CliError } from '../errors.ts';
import { withoutPassword } from '../output/without-password.ts';
import { quiet } from './quiet.ts';

export interface OpenedRedis {
  /** For REDIS_URL: a URL, or the absolute path of a socket. */
  address: string;
  /** Of the embedded server; null for any other. */
  socket: string | null;
  /** In a few words, without a password. */
  label: string;
  /** Ends the embedded server; leaves any other alone. */
  stop(): Promise<void>;
}

/**
 * The user's own Redis, or the embedded one of the data directory, started unless it runs already.
 *
 * @throws CliError `redis_unreachable`; EmbeddedRedisError
 */
export async function openRedis(config: Config, signal: AbortSignal): Promise<OpenedRedis> {
  if (config.redisUrl !== undefined) return openGiven(config.redisUrl);
  const binaries = await findRedisBinaries(config.path, config.projectDir);
  const redis = await startEmbeddedRedis({ dataDir: config.dataDir, binaries, signal });
  return {
    address: redis.path,
    socket: redis.path,
    label: `embedded ${redis.engine} ${redis.version}${redis.reused ? ', found running' : ''}`,
    stop: () => redis.stop(),
  };
}

async function openGiven(url: string): Promise<OpenedRedis> {
  // The error of the command only says that there were too many; the lost connection's says why.
  let why: unknown;
  const keepReason = (fields: object): void => {
    if (why === undefined && 'err' in fields) why = fields.err;
  };
  const connections = connect(url, { ...quiet, warn: keepReason });
  try {
    await connections.state.ping();
  } catch (cause) {
    const reason = why ?? cause;
    const text = reason instanceof Error ? reason.message : String(reason);
    throw new CliError('redis_unreachable', `Redis does not answer at ${withoutPassword(url)}: ${text}.`, { cause });
  } finally {
    await connections.close();
  }
  return { address: url, socket: null, label: withoutPassword(url), stop: async () => undefined };
}
