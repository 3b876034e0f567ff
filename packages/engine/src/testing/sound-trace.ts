import { attribute, type LoggedEvent, linkType, type TraceSpan, traceSpanSchema } from '@holdpoint/contract';
import { expect } from 'vitest';
import { addEvent, openSpans, openTrace } from '../events/open-trace.ts';

/** The spans of a log: those that have ended, and those that have not. */
export function spansOf(events: readonly LoggedEvent[]): { closed: TraceSpan[]; open: TraceSpan[] } {
  const trace = openTrace(events[0]?.run_id ?? '');
  const closed = events.flatMap((event) => addEvent(trace, event));
  return { closed, open: openSpans(trace) };
}

/**
 * Holds for every log: each span belongs to its run and lies in its parent, the segments of a life follow each other without a gap, each step
 * and attempt is one span, and a run that has ended has nothing open. Who begins in the middle of the log gets the same spans from there.
 */
export function soundTrace(events: readonly LoggedEvent[]): TraceSpan[] {
  const { closed, open } = spansOf(events);
  const all = [...closed, ...open];
  const byId = new Map(all.map((span) => [span.span_id, span]));
  expect(byId.size).toBe(all.length);
  for (const span of all) {
    traceSpanSchema.parse(span);
    expect(span.attributes[attribute.runId]).toBe(events[0]?.run_id);
    expect(span.end === null || span.end >= span.start, span.name).toBe(true);
    if (span.parent_id !== null) liesIn(span, byId.get(span.parent_id));
  }
  const ofKind = (kind: TraceSpan['kind']) => all.filter((span) => span.kind === kind);
  expect(ofKind('step')).toHaveLength(events.filter(({ type }) => type === 'step.created').length);
  expect(ofKind('attempt')).toHaveLength(events.filter(({ type }) => type === 'step.started').length);
  for (const run of ofKind('run')) withoutGap(run, all);
  for (const turn of ofKind('iteration')) expect(byId.get(turn.parent_id ?? '')?.kind).toBe('segment');
  for (const part of [...ofKind('turn'), ...ofKind('step')]) belongsToItsTurn(part, byId);
  const isOver = !open.some(({ kind }) => kind === 'run');
  if (isOver) expect(open.filter(({ name }) => !isAfterTheEnd(name))).toEqual([]);
  const half = Math.floor(events.length / 2);
  const again = openTrace(events[0]?.run_id ?? '');
  const first = events.slice(0, half).flatMap((event) => addEvent(again, event));
  openSpans(again);
  expect([...first, ...events.slice(half).flatMap((event) => addEvent(again, event))]).toEqual(closed);
  return all;
}

/** A publish and what it waits for. */
const isAfterTheEnd = (name: string): boolean => /^(publish|wait approval|workspace (discard|take_over))/.test(name);

function liesIn(span: TraceSpan, parent: TraceSpan | undefined): void {
  const what = `${span.name} (${span.start} to ${span.end}) in ${parent?.name} (${parent?.start} to ${parent?.end})`;
  expect(parent, what).toBeDefined();
  if (parent === undefined) return;
  expect(span.start >= parent.start, what).toBe(true);
  expect(parent.end === null || (span.end !== null && span.end <= parent.end), what).toBe(true);
}

/**
 * A decision lies in its turn. A step lies in its turn, or links to the turn whose segment ended before the step; only a new step for
 * the undone part of a turn has no turn.
 */
function belongsToItsTurn({ kind, name, parent_id, links, attributes }: TraceSpan, byId: Map<string, TraceSpan>): void {
  const parent = byId.get(parent_id ?? '');
  const linked = links.filter(({ attributes: of }) => of[attribute.linkType] === linkType.turn);
  const [turn = parent?.kind === 'iteration' ? parent : undefined] = linked.map(({ span_id }) => byId.get(span_id));
  if (kind === 'turn' || linked.length > 0) expect(turn?.kind, name).toBe('iteration');
  const number = attributes[attribute.turn];
  if (turn !== undefined && number !== undefined) expect(turn.attributes[attribute.turn], name).toBe(number);
}

function withoutGap(run: TraceSpan, all: readonly TraceSpan[]): void {
  const segments = all.filter(({ kind, parent_id }) => kind === 'segment' && parent_id === run.span_id);
  let at = run.start;
  for (const segment of segments) {
    expect(segment.start).toBe(at);
    at = segment.end ?? '';
  }
  expect(at).toBe(run.end ?? '');
  expect(segments.filter(({ end }) => end === null)).toHaveLength(run.end === null ? 1 : 0);
}
