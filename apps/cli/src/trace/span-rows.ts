import { byParent, endOf, startOf, tookOf } from '@holdpoint/contract/time-spent';
import type { TraceSpan } from '@holdpoint/contract/wire';

/** A line of the tree: a span, or several short consecutive spans. */
export type Row = { depth: number; start: number; end: number } & (
  | { span: TraceSpan; waits: Wait[] }
  | { count: number; names: [name: string, count: number][]; longest: number; ids: string[] }
);

/** When a step waited for a person, a place or a task. */
type Wait = { start: number; end: number };

/** A parent with more children shows short children together. */
const mostChildren = 40;
/** A child with less than this part of the whole is short. */
const shortPart = 1 / 100;

/**
 * The tree of spans as rows, in order. The parts of a step with a single attempt and hardly any wait are left out.
 * @param options.all every span has its row
 */
export function spanRows(spans: readonly TraceSpan[], { now, all }: { now: number; all: boolean }): Row[] {
  const children = byParent(spans);
  const short = shortPart * spans.reduce((sum, span) => sum + (span.kind === 'run' ? tookOf(span, now) : 0), 0);
  const hasErred = (span: TraceSpan): boolean =>
    span.status === 'error' || (span.kind === 'iteration' && (children.get(span.span_id) ?? []).some(hasErred));
  const isShort = (span: TraceSpan) => tookOf(span, now) <= short && !hasErred(span) && span.end !== null;
  /** The decisions and steps of a turn tell more than the turn. */
  const partsOf = (span: TraceSpan) => (span.kind === 'iteration' && children.get(span.span_id)) || [span];
  const idsOf = (span: TraceSpan) => [span, ...partsOf(span)].map(({ span_id }) => span_id);
  const rows: Row[] = [];
  const visit = (parent: string | null, depth: number): void => {
    const inside = children.get(parent) ?? [];
    const groups = all || inside.length <= mostChildren ? inside.map((span) => [span]) : stretches(inside, isShort);
    for (const group of groups) {
      const [span] = group;
      if (span === undefined) continue;
      if (group.length > 1) rows.push({ ...together(group.flatMap(partsOf), now), depth, ids: group.flatMap(idsOf) });
      else {
        const within = children.get(span.span_id) ?? [];
        const waits = span.kind === 'step' ? waitsOf(within, now) : [];
        rows.push({ depth, start: startOf(span), end: endOf(span, now), span, waits });
        if (all || !isPlain(span, within, now)) visit(span.span_id, depth + 1);
      }
    }
  };
  visit(null, 0);
  return rows;
}

const waitsOf = (spans: readonly TraceSpan[], now: number): Wait[] =>
  spans.flatMap((span) => (span.kind === 'wait' ? [{ start: startOf(span), end: endOf(span, now) }] : []));

/** Consecutive short spans, as a group each. */
function stretches(spans: readonly TraceSpan[], isShort: (span: TraceSpan) => boolean): TraceSpan[][] {
  const groups: TraceSpan[][] = [];
  for (const span of spans) {
    const last = groups.at(-1);
    if (last?.[0] !== undefined && isShort(span) && isShort(last[0])) last.push(span);
    else groups.push([span]);
  }
  return groups;
}

function together(spans: readonly TraceSpan[], now: number) {
  const counts = [...Map.groupBy(spans, ({ name }) => name)].map(([name, { length }]): [string, number] => [
    name,
    length,
  ]);
  return {
    start: Math.min(...spans.map(startOf)),
    end: Math.max(...spans.map((span) => endOf(span, now))),
    count: spans.length,
    names: counts.sort(([, a], [, b]) => b - a),
    longest: Math.max(...spans.map((span) => tookOf(span, now))),
  };
}

/** A step with a single attempt of nearly its own duration needs no parts. */
function isPlain(span: TraceSpan, inside: readonly TraceSpan[], now: number): boolean {
  if (span.kind !== 'step') return false;
  const attempts = inside.filter(({ kind }) => kind === 'attempt');
  const waited = inside.reduce((sum, one) => sum + (one.kind === 'wait' ? tookOf(one, now) : 0), 0);
  const asked = inside.some(({ name }) => name === 'wait approval' || name === 'wait question');
  return attempts.length <= 1 && !asked && waited <= Math.max(50, tookOf(span, now) / 10);
}
