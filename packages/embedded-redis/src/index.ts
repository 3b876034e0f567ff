export { type Answer, askServer, type ServerState } from './ask-server.ts';
export {
  type EmbeddedRedis,
  type EmbeddedRedisOptions,
  startEmbeddedRedis,
  stopEmbeddedRedis,
} from './embedded-redis.ts';
export { EmbeddedRedisError, type EmbeddedRedisErrorCode } from './error.ts';
export { findRedis, findRunningRedis, type RedisLocation } from './find-redis.ts';
export { findRedisBinaries } from './find-redis-binaries.ts';
