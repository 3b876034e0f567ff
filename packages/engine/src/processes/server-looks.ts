import type { Redis } from 'ioredis';
import { serverLooksKey } from '../log/keys.ts';

/** The last answer of each outside MCP server, which a worker wrote. Losing them loses nothing: the server is asked again. */
export const serverLooks = (redis: Redis) => ({
  /** @returns JSON of each, by the name of the server */
  all: (): Promise<Record<string, string>> => redis.hgetall(serverLooksKey),
  keep: async (name: string, look: object): Promise<void> => {
    await redis.hset(serverLooksKey, name, JSON.stringify(look));
  },
  forget: async (name: string): Promise<void> => {
    await redis.hdel(serverLooksKey, name);
  },
});
