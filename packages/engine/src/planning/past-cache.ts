import type { Redis } from 'ioredis';
import type { PastLog } from './past-log.ts';

/** Caps the pasts of one connection, in characters of their JSON. The rest of a past is small. */
const mostKept = 64 * 1024 * 1024;
const mostRuns = 64;

interface Kept {
  past: PastLog;
  size: number;
}

/** By connection: pasts of runs whose turns this process planned, the latest last. */
const kept = new WeakMap<Redis, Map<string, Kept>>();

export const takePast = (redis: Redis, runId: string): PastLog | undefined => kept.get(redis)?.get(runId)?.past;

/** Keeps a past for the next turn of its run. Drops the least recently used runs first. */
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
