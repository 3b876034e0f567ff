export { killWithParent } from './kill-with-parent.ts';
export { memoryDirectory } from './memory-directory.ts';
export { type PlainRedis, startPlainRedis } from './plain-redis.ts';
export { installedBinaries, startTestRedis } from './test-redis.ts';
