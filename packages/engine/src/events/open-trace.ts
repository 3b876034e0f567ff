import type { LoggedEvent, TraceSpan } from '@holdpoint/contract';
import type { ContentRedactor } from '../spans/content.ts';
import { emptyTrace, type TraceState } from '../spans/ids.ts';
import { record } from '../spans/spans.ts';
import { meanings } from './index.ts';

/**
 * The trace of a run, before its first event. Add all events of the run's log, in order.
 * @param redact redacts the beginnings of prompts, arguments and results in spans. Undefined: spans have none of these
 */
export const openTrace = (runId: string, redact?: ContentRedactor): TraceState => emptyTrace(runId, redact);

/**
 * Adds the next event of the log. Changes only the given state: the same log makes the same spans, in any number of parts.
 * @returns the spans that end with the event. An ended span never changes afterwards
 */
export function addEvent(trace: TraceState, event: LoggedEvent): TraceSpan[] {
  trace.now = Math.max(trace.now, Date.parse(event.time));
  trace.seq = event.seq;
  meanings[event.type].span(trace, event);
  return trace.closed.splice(0);
}

/** The spans that have not ended, in their present state. */
export const openSpans = (trace: TraceState): TraceSpan[] =>
  [...trace.open.values()].map((span) => record(trace, span, { end: undefined, status: 'unset' }));
