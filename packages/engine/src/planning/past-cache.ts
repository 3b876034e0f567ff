import type { Redis } from 'ioredis';
import type { PastLog } from './past-log.ts';

/** Characters of JSON that the pasts of one connection keep together. What they keep beside it is small. */
const mostKept = 64 * 1024 * 1024;
const mostRuns = 64;

interface Kept {
  past: PastLog;
  size: number;
}

/** By connection: the pasts of runs that this process planned turns of, the latest last. */
const kept = new WeakMap<Redis, Map<string, Kept>>();

export const takePast = (redis: Redis, runId: string): PastLog | undefined => kept.get(redis)?.get(runId)?.past;

/** Keeps a past for the next turn of its run. The runs that were not looked at for the longest time go first. */
export function keepPast(redis: Redis, past: PastLog, size: number): void {
  const all = kept.get(redis) ?? new Map<string, Kept>();
  kept.set(redis, all);
  all.delete(past.runId);
  all.set(past.runId, { past, size });
  let total = [...all.values()].reduce((sum, one) => sum + one.size, 0);
  for (const [runId, one] of all) {
    if (total <= mostKept && all.size <= mostRuns) break;
    all.delete(runId);
    total -= one.size;
  }
}
