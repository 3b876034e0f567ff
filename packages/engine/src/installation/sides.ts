import type { Redis } from 'ioredis';

/**
 * A data directory and a Redis belong together: the data directory has the files of a run, and Redis its log. Both carry the id of their
 * installation and the number of their data format, so a program with the wrong pair refuses to work and deletes nothing.
 */
export interface Sides {
  redis: Redis;
  dataDir: string;
}
