export { Cache } from './cache.ts';
export type { CacheOptions, Clock } from './options.ts';
export { memoize } from './memoize.ts';
