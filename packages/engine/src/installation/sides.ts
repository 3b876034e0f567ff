import type { Redis } from 'ioredis';

/**
 * A data directory and a Redis belong together: the files of a run are in one, its log is in the other. Both carry the id of their
 * installation and the number of their data format, so that a program with the wrong pair refuses to work and deletes nothing.
 */
export interface Sides {
  redis: Redis;
  dataDir: string;
}
