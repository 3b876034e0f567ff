export type Clock = () => number;

export interface CacheOptions {
  max: number;
  /** Milliseconds; absent: entries are never over. */
  ttl?: number;
  clock?: Clock;
  onEvict?: (key: unknown) => void;
}

export function checked({ max, ttl = Infinity, clock = Date.now, onEvict = () => {} }: CacheOptions) {
  if (!Number.isInteger(max) || max < 1) throw new RangeError('max must be a whole number from 1');
  return { max, ttl, clock, onEvict };
}
