import type { Redis } from 'ioredis';
import { slicesKey } from '../log/index.ts';

/** The sweeper's pace through a set of any length: one slice per sweep. */
export interface Pace {
  /** Milliseconds between two sweeps. */
  everyMs: number;
  /** Reads the whole set in this sweep. */
  whole: boolean;
}

interface Round {
  key: string;
  /** Distinguishes several rounds through one set. @default the key */
  name?: string;
  /** Milliseconds of a full round through the set. */
  roundMs: number;
  /** The least number of members in a slice: each sweep reads all of a smaller set. */
  least: number;
}

/**
 * The members of the next slice of a sorted set, in batches. A member that stays in the set during a whole round is in at least one slice;
 * some members may be in two. Redis keeps the place, because each sweep may run in another worker.
 */
export async function* nextSlice(
  redis: Redis,
  { key, name = key, roundMs, least }: Round,
  { everyMs, whole }: Pace,
): AsyncGenerator<string[]> {
  const [length, kept] = await Promise.all([redis.zcard(key), whole ? null : redis.hget(slicesKey, name)]);
  if (length === 0) return;
  const wanted = whole ? length : Math.max(least, Math.ceil((length * everyMs) / roundMs));
  const from = kept ?? '0';
  let cursor = from;
  let seen = 0;
  do {
    const [next, found] = await redis.zscan(key, cursor, 'COUNT', Math.min(wanted, batch));
    cursor = next;
    const members = found.filter((_, at) => at % 2 === 0);
    seen += members.length;
    if (members.length > 0) yield members;
  } while (cursor !== '0' && (whole || seen < wanted));
  if (!whole && cursor !== from) await redis.hset(slicesKey, name, cursor);
}

const batch = 200;
