export { type Connections, connect, countOtherConnections, type RedisAddress, withoutPassword } from './connect.ts';
export {
  type Judgement,
  judgeDurability,
  judgeMemoryPolicy,
  judgeTopology,
  probeWrite,
  readServer,
} from './judge-server.ts';
export { openRedis, RedisStartError } from './open-redis.ts';
export { type RedisUsage, readUsage } from './read-usage.ts';
export { isRefusal, type RedisTrouble, type RedisTroubleCode, redisTrouble } from './trouble.ts';
