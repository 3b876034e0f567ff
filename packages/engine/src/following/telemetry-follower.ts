import type { EndedSpans, LoggedEvent, TraceSpan } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { runField } from '../domain/index.ts';
import { activeIndex, lastEventAt, pagesOf, pagesOfRuns, readLog } from '../log/index.ts';
import { stateKey } from '../log/keys.ts';
import type { TelemetryPort } from '../ports/index.ts';
import type { Follower } from './follow-runs.ts';
import { readCursors, writeCursors } from './telemetry-cursors.ts';
import { openSince } from './telemetry-since.ts';

/** Makes spans of the events of one run, taken in order. */
export interface Fold {
  readonly traceId: string;
  /** @returns the spans that this event ends */
  take(event: LoggedEvent): TraceSpan[];
}
export type OpenFold = (runId: string) => Fold;

interface Deps {
  redis: Redis;
  now: () => number;
  openFold: OpenFold;
  ports: readonly TelemetryPort[];
}

interface Progress {
  fold: Fold;
  /** The last event that the fold took. */
  seq: number;
  /** Spans that events up to this one ended are with the ports. */
  cursor: number;
  hasEnded: boolean;
}

/** Spans that the ports get at once, as a rule. */
const batchLength = 512;
const mostProgress = 1000;
const page = 500;

/** Hands over what is new. For one process at a time; when two do it, spans are handed over twice. */
export async function openTelemetryFollower(deps: Deps): Promise<Follower> {
  const { redis, openFold } = deps;
  const since = await openSince(deps);
  /** In order of use: the first one is the least recently used. */
  const known = new Map<string, Progress>();

  const progressOf = async (runId: string): Promise<Progress> => {
    const found = known.get(runId);
    known.delete(runId);
    if (found) return found;
    const [cursor = 0] = await readCursors(redis, [runId]);
    return { fold: openFold(runId), seq: 0, cursor, hasEnded: false };
  };
  const keep = (runId: string, progress: Progress): void => {
    if (progress.hasEnded) return;
    known.set(runId, progress);
    if (known.size > mostProgress) known.delete([...known.keys()][0] ?? '');
  };

  const handle = async (runIds: Iterable<string>, signal: AbortSignal): Promise<void> => {
    const batch = new PendingSpans(deps);
    for (const runId of runIds) {
      signal.throwIfAborted();
      const progress = await progressOf(runId);
      for await (const event of eventsAfter(redis, runId, progress.seq)) {
        const ended = progress.fold.take(event);
        progress.seq = event.seq;
        progress.hasEnded = endings.has(event.type);
        if (event.seq <= progress.cursor) continue;
        progress.cursor = event.seq;
        // Earlier events happened before telemetry was switched on.
        const isWanted = Date.parse(event.time) >= since.time;
        batch.take({ run_id: runId, trace_id: progress.fold.traceId, spans: isWanted ? ended : [] }, event.seq);
        if (batch.length >= batchLength) await batch.flush(signal);
      }
      keep(runId, progress);
    }
    await batch.flush(signal);
    await since.touch();
  };
  /** Set when a batch was cut off: what is known here is ahead of the cursors. */
  let isOver = false;

  return {
    async handle(runIds, signal) {
      if (isOver) return;
      await handle(runIds, signal).catch((error: unknown) => {
        isOver = true;
        if (!signal.aborted) throw error;
      });
    },
    async *unhandled(which) {
      const pages = which === 'all' ? pagesOfRuns(redis, page) : pagesOf(redis, activeIndex, page);
      for await (const ids of pages) {
        const [cursors, ...seqs] = await Promise.all([
          readCursors(redis, ids),
          ...ids.map((id) => redis.hget(stateKey(id), runField.seq.name)),
        ]);
        for (const [at, id] of ids.entries()) {
          const cursor = cursors[at];
          if (Number(seqs[at] ?? 0) <= (cursor ?? 0)) continue;
          if (cursor !== undefined || ((await lastEventAt(redis, id)) ?? 0) >= since.time) yield id;
        }
      }
      await since.touch();
    },
  };
}

const endings: ReadonlySet<LoggedEvent['type']> = new Set(['run.succeeded', 'run.failed', 'run.canceled']);

async function* eventsAfter(redis: Redis, runId: string, seq: number): AsyncGenerator<LoggedEvent> {
  for (let after = seq; ; ) {
    const events = await readLog(redis, runId, { after, limit: page });
    yield* events;
    if (events.length < page) return;
    after = events.at(-1)?.seq ?? after;
  }
}

/** Ended spans of several runs, and where their cursors then are. */
class PendingSpans {
  private readonly deps: Deps;
  private spans: EndedSpans[] = [];
  private cursors = new Map<string, number>();
  length = 0;

  constructor(deps: Deps) {
    this.deps = deps;
  }

  take(ended: EndedSpans, seq: number): void {
    this.cursors.set(ended.run_id, seq);
    if (ended.spans.length === 0) return;
    this.spans.push(ended);
    this.length += ended.spans.length;
  }

  async flush(signal: AbortSignal): Promise<void> {
    const { spans, cursors } = this;
    if (cursors.size === 0) return;
    this.spans = [];
    this.cursors = new Map();
    this.length = 0;
    if (spans.length > 0) await Promise.all(this.deps.ports.map((port) => port.take(spans, signal)));
    await writeCursors(this.deps.redis, cursors);
  }
}
