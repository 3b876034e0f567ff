import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { RedisAddress } from './connect.ts';
import { socketOf } from './embedded/place.ts';

/** Which Redis a program means. */
export interface RedisPlace {
  address: RedisAddress;
  /** It is the embedded server of the data directory. */
  embedded: boolean;
}

/** REDIS_URL where it is set, the embedded server of the data directory where it is not. Every program decides it here. */
export async function findRedis({
  redisUrl,
  dataDir,
}: {
  redisUrl: string | undefined;
  dataDir: string;
}): Promise<RedisPlace> {
  if (redisUrl !== undefined && redisUrl !== '') return { address: redisUrl, embedded: false };
  const root = await realpath(dataDir).catch(() => resolve(dataDir));
  return { address: socketOf(root), embedded: true };
}
