import { byParent, criticalPath, endOf, type Spender, spenderOf, startOf } from '@holdpoint/contract/time-spent';
import type { TraceSpan } from '@holdpoint/contract/wire';
import type { WholeTrace } from './read-trace.ts';

export interface SpanRow {
  span: TraceSpan;
  /** Milliseconds since the epoch. */
  from: number;
  to: number;
  depth: number;
  spender: Spender;
  isCritical: boolean;
}

/** The tree of spans as rows, in order of start. */
export function spanRows({ spans, now }: WholeTrace): SpanRow[] {
  const children = byParent(spans);
  const critical = criticalPath(spans, now);
  const rows: SpanRow[] = [];
  const visit = (parent: string | null, depth: number): void => {
    for (const span of (children.get(parent) ?? []).toSorted((a, b) => startOf(a) - startOf(b))) {
      const spender = spenderOf(span) ?? (span.kind === 'publish' ? 'workspace' : 'other');
      const isCritical = critical.has(span.span_id);
      rows.push({ span, from: startOf(span), to: endOf(span, now), depth, spender, isCritical });
      visit(span.span_id, depth + 1);
    }
  };
  visit(null, 0);
  return rows;
}
