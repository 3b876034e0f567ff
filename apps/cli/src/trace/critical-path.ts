import { attribute } from '@holdpoint/contract';
import type { TraceSpan } from '@holdpoint/contract/wire';
import { endOf, startOf } from './read-whole-trace.ts';

/**
 * The ids of the spans on which the end of the run depended: from the end back, always the span with the last end before. A shorter span on
 * the path means an earlier end of the run. The spans around them are on the path, too.
 */
export function criticalPath(spans: readonly TraceSpan[], now: number): Set<string> {
  const path = new Set<string>();
  const byId = new Map(spans.map((span) => [span.span_id, span]));
  const candidates = spans
    .filter((span) => isWork(span) && endOf(span, now) > startOf(span))
    .sort((a, b) => endOf(b, now) - endOf(a, now) || startOf(b) - startOf(a));
  let before = Number.POSITIVE_INFINITY;
  for (const span of candidates) {
    if (endOf(span, now) > before) continue;
    before = startOf(span);
    for (let at: TraceSpan | undefined = span; at !== undefined; ) {
      path.add(at.span_id);
      at = at.parent_id === null ? undefined : byId.get(at.parent_id);
    }
  }
  return path;
}

/** Spans without a more precise part. A message waits for the run, and not the run for the message. */
const isWork = ({ kind, attributes }: TraceSpan): boolean =>
  kind === 'attempt' ||
  kind === 'turn' ||
  kind === 'workspace' ||
  (kind === 'wait' && attributes[attribute.waitFor] !== 'message') ||
  (kind === 'segment' && attributes[attribute.segmentState] === 'paused');
