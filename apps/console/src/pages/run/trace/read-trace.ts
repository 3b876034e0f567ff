import type { Trace, TraceSpan } from '@holdpoint/contract/wire';
import { ask } from '../../../api/request.ts';
import { runPath } from '../shown-run.ts';

/** All spans of a run; spans that have not ended last until `now`. */
export interface WholeTrace {
  spans: readonly TraceSpan[];
  now: number;
}

export async function readTrace(runId: string, signal: AbortSignal): Promise<WholeTrace> {
  const spans: TraceSpan[] = [];
  for (let after: string | undefined; ; ) {
    const page = await ask<Trace>({ path: runPath(runId, '/trace'), query: { after, limit: 10_000 }, signal });
    spans.push(...page.spans);
    if (!page.has_more || page.next_cursor === null) return { spans, now: Date.now() };
    after = page.next_cursor;
  }
}
