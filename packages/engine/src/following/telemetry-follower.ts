import type { EndedSpans, LoggedEvent } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import type { runField } from '../domain/index.ts';
import { addEvent, openTrace } from '../events/open-trace.ts';
import { activeIndex, stateKey, telemetryCursorKey, telemetryKey } from '../log/keys.ts';
import { pagesOf, pagesOfRuns } from '../log/pages.ts';
import { readTexts } from '../log/read-texts.ts';
import { recordedEvent } from '../log/recorded-event.ts';
import type { Logger, TelemetryPort } from '../ports/index.ts';
import { type ContentRedactor, spanIdOf, spanKeys, type TraceState } from '../spans/index.ts';
import type { Follower } from './follow-runs.ts';

/** The time from which events are exported. */
export interface Since {
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** Records that telemetry is on. */
  touch(): Promise<void>;
}

/** Without a holder for this long, telemetry was off. Longer than the time between two looks. */
const goneMs = 15 * 60_000;
const touchMs = 10_000;

interface Deps {
  redis: Redis;
  now: () => number;
  /** When this process switched telemetry on, in milliseconds since the epoch. */
  from: number;
}

/** Events from a time without telemetry are never exported. A restart of all workers does not count as a time without telemetry. */
export async function openSince({ redis, now, from }: Deps): Promise<Since> {
  const [since, at] = await redis.hmget(telemetryKey, 'since', 'at');
  const isOn = at != null && now() - Number(at) < goneMs;
  const stored = isOn ? Number(since) : from;
  let touched = now();
  await redis.hset(telemetryKey, { since: stored, at: touched });
  return {
    // A cursor of an older run may be dropped. Without this bound the run's events would be exported again.
    get time() {
      return Math.max(stored, now() - cursorDays * 86_400_000);
    },
    async touch() {
      if (now() - touched < touchMs) return;
      touched = now();
      await redis.hset(telemetryKey, { since: stored, at: touched });
    },
  };
}

/** After this time without a new event the cursor of a run is dropped. */
const cursorDays = 30;

/** For each run, the sequence number up to which its events are handed over; undefined: unknown. */
export async function readCursors(redis: Redis, runIds: readonly string[]): Promise<(number | undefined)[]> {
  const texts = await Promise.all(runIds.map((id) => redis.get(telemetryCursorKey(id))));
  return texts.map((text) => (text === null ? undefined : Number(text)));
}

export async function writeCursors(redis: Redis, cursors: ReadonlyMap<string, number>): Promise<void> {
  const seconds = (cursorDays + 1) * 86_400;
  await Promise.all([...cursors].map(([id, seq]) => redis.set(telemetryCursorKey(id), seq, 'EX', seconds)));
}

export interface TelemetryFollowerDeps {
  redis: Redis;
  logger: Logger;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** When this process switched telemetry on, in milliseconds since the epoch. Earlier than `now()`: the thread takes its time to start. */
  from: number;
  /** Each port gets all spans. A cursor moves when all ports are done. */
  ports: readonly TelemetryPort[];
  /** Redacts the prompts, arguments and results in spans. Undefined: spans have no content. */
  redactContent?: ContentRedactor | undefined;
}

interface Progress {
  /** The fold of the log, as far as the log was read. */
  trace: TraceState;
  /** The trace context submitted with the run. */
  caller: Pick<EndedSpans, 'traceparent' | 'tracestate'>;
  /** The ports have the spans that events up to this sequence number ended. */
  cursor: number;
}

/** The usual number of spans per batch. */
const batchLength = 512;
const mostProgress = 1000;
const page = 500;
const seqField = 'seq' satisfies keyof typeof runField;

/** Hands over new spans. For one process at a time: two followers hand spans over twice. */
export async function openTelemetryFollower(deps: TelemetryFollowerDeps): Promise<Follower> {
  const { redis, logger } = deps;
  const since = await openSince(deps);
  /** In order of use: the first entry is the least recently used. */
  const known = new Map<string, Progress>();

  const progressOf = async (runId: string): Promise<Progress> => {
    const found = known.get(runId);
    known.delete(runId);
    if (found) return found;
    const [cursor = 0] = await readCursors(redis, [runId]);
    return { trace: openTrace(runId, deps.redactContent), caller: {}, cursor };
  };
  const keep = (runId: string, progress: Progress): void => {
    if (progress.trace.open.size === 0) return;
    known.set(runId, progress);
    if (known.size > mostProgress) known.delete([...known.keys()][0] ?? '');
  };

  const handle = async (runIds: Iterable<string>, signal: AbortSignal): Promise<void> => {
    const batch = new PendingSpans(deps);
    for (const runId of runIds) {
      signal.throwIfAborted();
      try {
        const progress = await progressOf(runId);
        for await (const event of eventsAfter(redis, runId, progress.trace.seq)) {
          batch.take(endedBy(progress, event, since.time), progress.cursor);
          if (batch.length >= batchLength) await batch.flush(signal);
        }
        keep(runId, progress);
      } catch (error) {
        if (!(error instanceof UnreadableLog)) throw error;
        logger.warn({ run_id: runId, err: error }, 'the spans of a run are not exported: its log cannot be read');
      }
    }
    await batch.flush(signal);
    await since.touch();
  };
  /** Set when a batch was cut off: `known` is then ahead of the cursors. */
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
          ...ids.map((id) => redis.hget(stateKey(id), seqField)),
        ]);
        for (const [at, id] of ids.entries()) {
          const cursor = cursors[at];
          if (Number(seqs[at] ?? 0) <= (cursor ?? 0)) continue;
          if (cursor !== undefined || (await lastEventAt(redis, id, Number(seqs[at]))) >= since.time) yield id;
        }
      }
      await since.touch();
    },
  };
}

/** Milliseconds since the epoch. An unreadable event counts as new: reading the log reports the damage. */
async function lastEventAt(redis: Redis, runId: string, seq: number): Promise<number> {
  const [last] = await readTexts(redis, runId, { after: seq - 1, limit: 1 });
  try {
    return last === undefined ? 0 : Date.parse(recordedEvent(runId, last.seq, last.text).time);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** An event that this version does not know, or cannot place. Other runs continue. */
class UnreadableLog extends Error {
  override readonly name = 'UnreadableLog';
}

/** @param since earlier events happened before telemetry was switched on */
function endedBy(progress: Progress, event: LoggedEvent, since: number): EndedSpans {
  const { trace } = progress;
  const ended = orUnreadable(() => addEvent(trace, event));
  if (event.type === 'run.created') {
    const { traceparent, tracestate } = event.data;
    progress.caller = { traceparent, tracestate };
  }
  const isNew = event.seq > progress.cursor && Date.parse(event.time) >= since;
  progress.cursor = Math.max(progress.cursor, event.seq);
  const spans = isNew ? ended : [];
  const isSubmitted = isNew && event.type === 'run.created';
  return {
    ...{ run_id: trace.runId, trace_id: trace.traceId, ...progress.caller, spans },
    submitted: isSubmitted ? { time: event.time, toolset: event.data.toolset } : undefined,
    run_span_id: spans.length === 0 ? undefined : spanIdOf(trace.runId, spanKeys.run(trace.life)),
    segments: spans.map((span) => trace.segmentOf.get(span) ?? 0),
  };
}

function orUnreadable<Result>(act: () => Result): Result {
  try {
    return act();
  } catch (cause) {
    throw new UnreadableLog('an event is not known, or makes no spans', { cause });
  }
}

async function* eventsAfter(redis: Redis, runId: string, seq: number): AsyncGenerator<LoggedEvent> {
  for (let after = seq; ; ) {
    const texts = await readTexts(redis, runId, { after, limit: page });
    for (const { seq, text } of texts) yield orUnreadable(() => recordedEvent(runId, seq, text));
    if (texts.length < page) return;
    after = texts.at(-1)?.seq ?? after;
  }
}

/** Ended spans of several runs, and the cursors of these runs after a flush. */
class PendingSpans {
  private readonly deps: TelemetryFollowerDeps;
  private spans: EndedSpans[] = [];
  private cursors = new Map<string, number>();
  length = 0;

  constructor(deps: TelemetryFollowerDeps) {
    this.deps = deps;
  }

  take(ended: EndedSpans, cursor: number): void {
    this.cursors.set(ended.run_id, cursor);
    if (ended.spans.length === 0 && ended.submitted === undefined) return;
    this.spans.push(ended);
    this.length += ended.spans.length + (ended.submitted === undefined ? 0 : 1);
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
