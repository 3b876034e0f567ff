import type { Redis } from 'ioredis';
import { slicesKey } from '../log/index.ts';

/** How the sweeper goes through a set that may be long: a slice per sweep. */
export interface Pace {
  /** Milliseconds between two sweeps. */
  everyMs: number;
  /** All of the set in this sweep. */
  whole: boolean;
}

interface Round {
  key: string;
  /** Distinguishes several rounds through one set. @default the key */
  name?: string;
  /** Milliseconds that one round through the set takes. */
  roundMs: number;
  /** Members that a slice has at least: a set that is not longer is seen whole in each sweep. */
  least: number;
}

/**
 * The members of the next slice of a sorted set, in batches. What is in the set during a whole round is in one of its slices; some of it may
 * be in two. Redis keeps the place, because each sweep may be of another worker.
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
