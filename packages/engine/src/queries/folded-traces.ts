import type { Redis } from 'ioredis';
import type { TraceState } from '../spans/index.ts';

/** By connection: folds of traces up to the end of a page, for the next page. */
const folded = new WeakMap<Redis, Map<string, Kept>>();
const mostKept = 50;
const keptMs = 60_000;

interface Kept {
  trace: TraceState;
  until: number;
}

/** Keeps the fold of a log behind a page: the reader is likely to request the next page from this process. */
export function keepFolded(redis: Redis, trace: TraceState): void {
  const known = folded.get(redis) ?? new Map<string, Kept>();
  folded.set(redis, known);
  const key = keyOf(trace.runId, trace.seq);
  known.delete(key);
  known.set(key, { trace, until: performance.now() + keptMs });
  if (known.size > mostKept) known.delete(known.keys().next().value ?? '');
}

/** Returns the fold up to this event once, because the next page changes the fold. */
export function takeFolded(redis: Redis, runId: string, seq: number): TraceState | undefined {
  const known = folded.get(redis);
  const found = known?.get(keyOf(runId, seq));
  known?.delete(keyOf(runId, seq));
  return found !== undefined && performance.now() < found.until ? found.trace : undefined;
}

const keyOf = (runId: string, seq: number): string => `${runId}/${seq}`;
