import { type AuditLog, defaultTenant } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { auditCursorsKey } from '../log/keys.ts';
import { RangeDigest, readStored } from './range-digest.ts';
import type { Sealable } from './record-line.ts';

export type SealedRange = AuditLog & { tenant: string };

/**
 * Compares the sealed events of each run with Redis, after Redis went back to an earlier time.
 * @param ranges the sealed ranges that Redis does not know as sealed
 * @returns a record per run with lost events, and where sealing continues
 */
export async function findLosses(
  { redis, now }: { redis: Redis; now: () => number },
  ranges: readonly SealedRange[],
): Promise<{ losses: Sealable[]; cursors: Record<string, number> }> {
  const losses: Sealable[] = [];
  const cursors: Record<string, number> = {};
  for (const [runId, sealed] of byRun(ranges)) {
    const known = Number((await redis.hget(auditCursorsKey, runId)) ?? 0);
    let kept = known;
    let last = known;
    for (const range of sealed) {
      last = Math.max(last, range.to);
      if (range.from === kept + 1 && (await isKept(redis, range))) kept = range.to;
    }
    cursors[runId] = kept;
    if (last === kept) continue;
    const body = { kind: 'loss' as const, run_id: runId, from: kept + 1, to: last };
    losses.push({ body, time: new Date(now()).toISOString(), tenant: sealed[0]?.tenant ?? defaultTenant });
  }
  return { losses, cursors };
}

async function isKept(redis: Redis, { run_id, from, to, digest }: SealedRange): Promise<boolean> {
  const found = new RangeDigest();
  for await (const events of readStored(redis, run_id, from, to)) for (const event of events) found.add(event);
  return found.end().digest === digest;
}

function byRun(ranges: readonly SealedRange[]): Map<string, SealedRange[]> {
  const runs = new Map<string, SealedRange[]>();
  for (const range of ranges) {
    const known = runs.get(range.run_id) ?? [];
    known.push(range);
    runs.set(range.run_id, known);
  }
  return runs;
}
