import * as timeSpent from '@holdpoint/contract/time-spent';
import type * as wire from '@holdpoint/contract/wire';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef, useState } from 'react';
import { Link } from 'wouter';
import { ask } from '../../../api/request.ts';
import { Button } from '../../../parts/button.tsx';
import { Empty, Loading } from '../../../parts/empty.tsx';
import { isOver } from '../../../parts/is-over.ts';
import { ProblemNote, Text } from '../../../parts/text.tsx';
import { spanText } from '../../../parts/time.tsx';
import { useTop } from '../../../parts/use-top.ts';
import { runPath, type ShownRun } from '../shown-run.ts';

/** Where the time of the run went: a waterfall of its spans, with the path on which its end depended. */
export function Trace({ run }: ShownRun) {
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ['trace', run.id, run.status],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => readTrace(run.id, signal),
  });
  const [onlyCritical, setOnlyCritical] = useState(false);
  const all = useMemo(() => (data === undefined ? [] : spanRows(data)), [data]);
  if (error && data === undefined) return <ProblemNote error={error} />;
  if (data === undefined) return <Loading of="the trace" />;
  if (all.length === 0) {
    return (
      <Empty icon="clock" title="No spans yet">
        <p>They appear when the first part of the run has ended.</p>
      </Empty>
    );
  }
  const rows = onlyCritical ? all.filter(({ isCritical }) => isCritical) : all;
  return (
    <section className="stack" aria-label="Trace">
      <div className="spread">
        <ul className="row small trace-legend" aria-label="Colours">
          {legend.map(([spender, name]) => (
            <li key={spender}>
              <span className={`swatch ${spender}`} aria-hidden="true" /> {name}
            </li>
          ))}
        </ul>
        {!isOver(run.status) && (
          <Button slim icon="turn" whyNot={isFetching ? 'Being read' : undefined} onClick={() => void refetch()}>
            Read again
          </Button>
        )}
        <button
          type="button"
          className="choice"
          aria-pressed={onlyCritical}
          onClick={() => setOnlyCritical(!onlyCritical)}
        >
          Critical path
        </button>
      </div>
      <Waterfall
        rows={rows}
        from={all.reduce((least, row) => Math.min(least, row.from), Infinity)}
        to={all.reduce((most, row) => Math.max(most, row.to), 0)}
        runId={run.id}
      />
    </section>
  );
}

const legend: [timeSpent.Spender, string][] = [
  ['model', 'model'],
  ['tool', 'tool'],
  ['person', 'waiting for people'],
  ['caller', 'waiting for the caller'],
  ['queue', 'waiting in line'],
  ['workspace', 'workspace'],
  ['task', 'background'],
];

function Waterfall({ rows, from, to, runId }: { rows: readonly SpanRow[]; from: number; to: number; runId: string }) {
  const list = useRef<HTMLDivElement>(null);
  const top = useTop(list);
  const whole = Math.max(1, to - from);
  const virtual = useWindowVirtualizer({ count: rows.length, estimateSize: () => 28, overscan: 20, scrollMargin: top });
  return (
    <div className="card trace-card">
      <div className="trace-axis small muted numbers" aria-hidden="true">
        <span>0</span>
        <span>{spanText(whole / 2)}</span>
        <span>{spanText(whole)}</span>
      </div>
      <div ref={list} className="trace" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const row = rows[index];
          return row === undefined ? null : (
            <div key={index} className="trace-item" style={{ transform: `translateY(${start - top}px)` }}>
              <TraceRow row={row} from={from} whole={whole} runId={runId} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

const stepId = 'holdpoint.step.id';

function TraceRow({ row, from, whole, runId }: { row: SpanRow; from: number; whole: number; runId: string }) {
  const { span, depth, spender, isCritical } = row;
  const took = row.to - row.from;
  const id = span.attributes[stepId];
  const name = <Text most={80}>{timeSpent.labelOf(span)}</Text>;
  return (
    <div className={`trace-row${isCritical ? ' critical' : ''}`}>
      <span className="trace-name one-line" style={{ paddingLeft: `${Math.min(depth, 8) * 0.75}rem` }}>
        {typeof id === 'string' && span.kind === 'step' ? (
          <Link href={`/runs/${runId}/steps/${id}`}>{name}</Link>
        ) : (
          name
        )}
        {isCritical && <span className="hidden-text"> (critical path)</span>}
        {span.status === 'error' && <span className="trace-error"> failed</span>}
      </span>
      <span className="trace-track" aria-hidden="true">
        <span
          className={`trace-bar ${spender}`}
          style={{
            left: `${((row.from - from) / whole) * 100}%`,
            width: `max(2px, ${(took / whole) * 100}%)`,
          }}
        />
      </span>
      <span className="numbers small muted trace-took">{spanText(took)}</span>
    </div>
  );
}

export interface SpanRow {
  span: wire.TraceSpan;
  /** Milliseconds since the epoch. */
  from: number;
  to: number;
  depth: number;
  spender: timeSpent.Spender;
  isCritical: boolean;
}

/** The tree of spans as rows, in order of start. */
export function spanRows({ spans, now }: WholeTrace): SpanRow[] {
  const children = timeSpent.byParent(spans);
  const critical = timeSpent.criticalPath(spans, now);
  const rows: SpanRow[] = [];
  const visit = (parent: string | null, depth: number): void => {
    for (const span of (children.get(parent) ?? []).toSorted((a, b) => timeSpent.startOf(a) - timeSpent.startOf(b))) {
      const spender = timeSpent.spenderOf(span) ?? (span.kind === 'publish' ? 'workspace' : 'other');
      const isCritical = critical.has(span.span_id);
      rows.push({ span, from: timeSpent.startOf(span), to: timeSpent.endOf(span, now), depth, spender, isCritical });
      visit(span.span_id, depth + 1);
    }
  };
  visit(null, 0);
  return rows;
}

/** All spans of a run; spans that have not ended last until `now`. */
export interface WholeTrace {
  spans: readonly wire.TraceSpan[];
  now: number;
}

export async function readTrace(runId: string, signal: AbortSignal): Promise<WholeTrace> {
  const spans: wire.TraceSpan[] = [];
  for (let after: string | undefined; ; ) {
    const page = await ask<wire.Trace>({ path: runPath(runId, '/trace'), query: { after, limit: 10_000 }, signal });
    spans.push(...page.spans);
    if (!page.has_more || page.next_cursor === null) return { spans, now: Date.now() };
    after = page.next_cursor;
  }
}
