import type { Trace, TraceSpan } from '@holdpoint/contract/wire';
import { ask } from '../../../api/request.ts';
import { runPath } from '../shown-run.ts';

export type Span = TraceSpan & { from: number; to: number };

/** All spans of a run; spans that have not ended end now. */
export async function readTrace(runId: string, signal: AbortSignal): Promise<Span[]> {
  const spans: TraceSpan[] = [];
  for (let after: string | undefined; ; ) {
    const page = await ask<Trace>({ path: runPath(runId, '/trace'), query: { after, limit: 10_000 }, signal });
    spans.push(...page.spans);
    if (!page.has_more || page.next_cursor === null) break;
    after = page.next_cursor;
  }
  const now = Date.now();
  return spans.map((span) => {
    const from = Date.parse(span.start);
    return { ...span, from, to: Math.max(from, span.end === null ? now : Date.parse(span.end)) };
  });
}
