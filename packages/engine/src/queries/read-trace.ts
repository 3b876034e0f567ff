import type { Trace, TraceSpan } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import type { EngineDeps } from '../deps.ts';
import { addEvent, openSpans, openTrace } from '../events/open-trace.ts';
import { readLog } from '../log/index.ts';
import type { TraceState } from '../spans/index.ts';

const eventsAtOnce = 500;

/**
 * The spans of a run from its log: the spans that ended after sequence number `after`, and on the last page the open spans. Continues from
 * the previous page, or reads the log from its beginning when another process made the previous page, or this process did long ago.
 * @param page.limit of spans. A page may have a few more, because a page ends with an event
 */
export async function readTrace(
  { redis }: Pick<EngineDeps, 'redis'>,
  runId: string,
  { after = 0, limit }: { after?: number | undefined; limit: number },
): Promise<Trace> {
  const trace = takeFolded(redis, runId, after) ?? openTrace(runId);
  const spans: TraceSpan[] = [];
  for (;;) {
    const events = await readLog(redis, runId, { after: trace.seq, limit: eventsAtOnce });
    for (const event of events) {
      const closed = addEvent(trace, event);
      if (event.seq > after) spans.push(...closed);
      if (spans.length < limit) continue;
      keepFolded(redis, trace);
      return page(runId, trace.traceId, spans, String(event.seq));
    }
    if (events.length < eventsAtOnce) break;
  }
  return page(runId, trace.traceId, [...spans, ...openSpans(trace)], null);
}

const page = (run_id: string, trace_id: string, spans: readonly TraceSpan[], next_cursor: string | null): Trace => ({
  ...{ run_id, trace_id, next_cursor, has_more: next_cursor !== null },
  spans: spans.toSorted((a, b) => (a.start < b.start ? -1 : a.start > b.start ? 1 : 0)),
});

/** By connection: folds of traces up to the end of a page, for the next page. */
const folded = new WeakMap<Redis, Map<string, Kept>>();
const mostKept = 50;
const keptMs = 60_000;

interface Kept {
  trace: TraceState;
  until: number;
}

/** Keeps the fold of a log behind a page: the reader is likely to request the next page from this process. */
function keepFolded(redis: Redis, trace: TraceState): void {
  const known = folded.get(redis) ?? new Map<string, Kept>();
  folded.set(redis, known);
  const key = keyOf(trace.runId, trace.seq);
  known.delete(key);
  known.set(key, { trace, until: performance.now() + keptMs });
  if (known.size > mostKept) known.delete(known.keys().next().value ?? '');
}

/** Returns the fold up to this event once, because the next page changes the fold. */
function takeFolded(redis: Redis, runId: string, seq: number): TraceState | undefined {
  const known = folded.get(redis);
  const found = known?.get(keyOf(runId, seq));
  known?.delete(keyOf(runId, seq));
  return found !== undefined && performance.now() < found.until ? found.trace : undefined;
}

const keyOf = (runId: string, seq: number): string => `${runId}/${seq}`;
