import { createHash } from 'node:crypto';

const keptMs = 3_600_000;
const most = 100;

/** Keys accepted by a route within the last hour, by their hashes. */
export interface RecentKeys {
  add(key: string): void;
  has(key: string): boolean;
}

export function openRecentKeys(now: () => number): RecentKeys {
  /** In order of their last use. */
  const until = new Map<string, number>();
  return {
    add(key) {
      const hash = hashOf(key);
      until.delete(hash);
      until.set(hash, now() + keptMs);
      if (until.size > most) until.delete([...until.keys()][0] ?? '');
    },
    has: (key) => (until.get(hashOf(key)) ?? 0) > now(),
  };
}

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex');
