import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { askServer } from './ask-server.ts';
import { EmbeddedRedisError } from './error.ts';
import { socketOf } from './redis-paths.ts';

const answerMs = 2000;

/** The Redis of a program. */
export interface RedisLocation {
  /** `redis://…`, `rediss://…`, or the absolute path of a unix socket. */
  address: string;
  /** Whether this Redis is the embedded server of the data directory. */
  embedded: boolean;
}

interface Settings {
  /** REDIS_URL. */
  redisUrl: string | undefined;
  dataDir: string;
}

/** REDIS_URL when set, otherwise the embedded server of the data directory. Every program decides with this function. */
export async function findRedis({ redisUrl, dataDir }: Settings): Promise<RedisLocation> {
  if (redisUrl !== undefined && redisUrl !== '') return { address: redisUrl, embedded: false };
  const root = await realpath(dataDir).catch(() => resolve(dataDir));
  return { address: socketOf(root), embedded: true };
}

/**
 * The address of the same Redis. An embedded server has to run already.
 * @throws {EmbeddedRedisError} `redis_not_running`
 */
export async function findRunningRedis(settings: Settings): Promise<string> {
  const { address, embedded } = await findRedis(settings);
  if (!embedded || (await askServer(address, { timeoutMs: answerMs })) !== 'absent') return address;
  throw new EmbeddedRedisError(
    'redis_not_running',
    `REDIS_URL is not set, and the embedded Redis of ${settings.dataDir} does not run.`,
    'Start the system on this data directory (`npm start`), set HOLDPOINT_DATA to the directory of the running system, or set REDIS_URL.',
  );
}
