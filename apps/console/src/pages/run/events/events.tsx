import type { Page, RunEvent } from '@holdpoint/contract/wire';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useRef, useState } from 'react';
import { ask } from '../../../api/request.ts';
import { useNews } from '../../../live/live.ts';
import { Loading } from '../../../parts/empty.tsx';
import { LongText } from '../../../parts/reading.tsx';
import { ProblemNote, Text } from '../../../parts/text.tsx';
import { wholeTime } from '../../../parts/time.tsx';
import { useTop } from '../../../parts/use-top.ts';
import { runPath, type ShownRun, useFollowedRun } from '../shown-run.ts';

/** The log of the run as it is stored: the truth behind every other part of this page. */
export function Events({ run }: ShownRun) {
  const { events, error, isWhole } = useEvents(run.id);
  const list = useRef<HTMLDivElement>(null);
  const top = useTop(list);
  const virtual = useWindowVirtualizer({
    count: events.length,
    estimateSize: () => 34,
    getItemKey: (at) => events[at]?.seq ?? at,
    overscan: 20,
    scrollMargin: top,
  });
  if (error && events.length === 0) return <ProblemNote error={error} />;
  if (events.length === 0) return <Loading of="the events" />;
  return (
    <section className="stack" aria-label="Events">
      <p className="muted small numbers" role="status">
        {events.length.toLocaleString('en')} events{isWhole ? '' : ', reading more'}
      </p>
      <div ref={list} className="events" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, key, start }) => {
          const event = events[index];
          return event === undefined ? null : (
            <div
              key={key}
              data-index={index}
              ref={virtual.measureElement}
              className="event-item"
              style={{ transform: `translateY(${start - top}px)` }}
            >
              <EventRow event={event} />
            </div>
          );
        })}
      </div>
    </section>
  );
}

function EventRow({ event }: { event: RunEvent }) {
  const { seq, type, time } = event;
  return (
    <details className="event">
      <summary>
        <span className="numbers muted event-seq">{seq}</span>
        <span className="mono">{type}</span>
        <time className="muted small" dateTime={time}>
          {wholeTime(time)}
        </time>
      </summary>
      <LongText label={`Event ${seq}`} counts={false}>
        <pre>
          <Text most={100_000}>{JSON.stringify(event, null, 2)}</Text>
        </pre>
      </LongText>
    </details>
  );
}

interface Log {
  events: readonly RunEvent[];
  isWhole: boolean;
  error: unknown;
}

/** All events, read in pages, and again from the last one when the stream has news. */
function useEvents(runId: string): Log {
  const [log, setLog] = useState<Log>({ events: [], isWhole: false, error: null });
  const more = useRef<() => void>(() => undefined);
  useEffect(() => {
    const stop = new AbortController();
    let events: RunEvent[] = [];
    let isReading = false;
    let isDue = false;
    const read = async (): Promise<void> => {
      if (isReading) return;
      isReading = true;
      isDue = false;
      try {
        for (let hasMore = true; hasMore; ) {
          const query = { after: events.at(-1)?.seq ?? 0, limit: 1000 };
          const page = await ask<Page<RunEvent>>({ path: runPath(runId, '/events'), query, signal: stop.signal });
          events = [...events, ...page.data];
          hasMore = page.has_more;
          setLog({ events, isWhole: !hasMore, error: null });
        }
      } catch (error) {
        if (!stop.signal.aborted) setLog({ events, isWhole: false, error });
      }
      isReading = false;
      if (isDue && !stop.signal.aborted) setTimeout(() => void read(), 400);
    };
    more.current = () => {
      isDue = true;
      void read();
    };
    void read();
    return () => stop.abort();
  }, [runId]);
  useNews(
    useFollowedRun(),
    useCallback(({ frames, gap }) => {
      if (gap || frames.some(({ event }) => event !== 'live')) more.current();
    }, []),
  );
  return log;
}
