import type { Client } from '@holdpoint/client';
import { startOf } from '@holdpoint/contract/time-spent';
import type { TraceSpan } from '@holdpoint/contract/wire';

export interface WholeTrace {
  run_id: string;
  trace_id: string;
  /** In order of start. */
  spans: TraceSpan[];
}

/** All pages together. */
export async function readWholeTrace(client: Pick<Client, 'readTrace'>, runId: string): Promise<WholeTrace> {
  const byId = new Map<string, TraceSpan>();
  for (let after = 0; ; ) {
    const { run_id, trace_id, spans, next_cursor } = await client.readTrace(runId, { after, limit: 10_000 });
    for (const span of spans) byId.set(span.span_id, span);
    if (next_cursor !== null) after = Number(next_cursor);
    else return { run_id, trace_id, spans: [...byId.values()].sort((a, b) => startOf(a) - startOf(b)) };
  }
}
