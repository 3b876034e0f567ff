import type { EndedSpans, TraceSpan } from '@holdpoint/contract';
import { attribute, linkType } from '@holdpoint/contract/names';
import { spanOfSegment, traceOfSegment } from './span-ids.ts';

/** A span, and the trace of its export. */
export interface PlacedSpan {
  traceId: string;
  span: TraceSpan;
}

/**
 * A trace per segment, for runs of thousands of steps. Spans with their beginning in a segment are in its trace, below the span of the
 * segment. The segment's span links to the run and to the segment before. The span of the run is in the trace of the run.
 */
export const splitTrace = (run: EndedSpans): PlacedSpan[] =>
  run.spans.map((span, at) => {
    const segment = run.segments?.[at] ?? 0;
    if (segment === 0) return { traceId: run.trace_id, span };
    const traceId = traceOfSegment(run.run_id, segment);
    return { traceId, span: span.kind === 'segment' ? asRoot(run, span, segment) : inSegment(run, span, segment) };
  });

function asRoot({ run_id, trace_id }: EndedSpans, span: TraceSpan, segment: number): TraceSpan {
  const toRun = { trace_id, span_id: span.parent_id ?? '', attributes: { [attribute.linkType]: linkType.run } };
  const links = span.links.map((link) =>
    link.attributes[attribute.linkType] === linkType.previous
      ? { ...link, trace_id: traceOfSegment(run_id, segment - 1) }
      : link,
  );
  return { ...span, parent_id: null, links: [...(span.parent_id === null ? [] : [toRun]), ...links] };
}

/** A span over several segments is below the run; here the span is below the first of the segments. */
const inSegment = ({ run_id, run_span_id }: EndedSpans, span: TraceSpan, segment: number): TraceSpan =>
  span.parent_id === run_span_id ? { ...span, parent_id: spanOfSegment(run_id, segment) } : span;
