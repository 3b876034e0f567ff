import type { EventType, LoggedEvent, TraceSpan } from '@holdpoint/contract';
import { approvalSpans } from './approval-spans.ts';
import type { ContentRedactor } from './content.ts';
import { modelSpans } from './model-spans.ts';
import { publishSpans } from './publish-spans.ts';
import { runSpans } from './run-spans.ts';
import { record } from './spans.ts';
import { noSpan, type SpansOf } from './spans-of.ts';
import { stepSpans } from './step-spans.ts';
import { taskSpans } from './task-spans.ts';
import { emptyTrace, type TraceState } from './trace-state.ts';
import { turnSpans } from './turn-spans.ts';
import { workspaceSpans } from './workspace-spans.ts';

/** The only place that says which spans an event begins and ends. The compiler reports a missing event. */
const spansByType: SpansOf<EventType> = {
  ...runSpans,
  ...turnSpans,
  ...stepSpans,
  ...approvalSpans,
  ...taskSpans,
  ...modelSpans,
  'graph.progress': noSpan,
  ...workspaceSpans,
  ...publishSpans,
};

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
  // The compiler does not see that the entry and the event have the same type.
  const add = spansByType[event.type] as (trace: TraceState, event: LoggedEvent) => void;
  add(trace, event);
  return trace.closed.splice(0);
}

/** The spans that have not ended, in their present state. */
export const openSpans = (trace: TraceState): TraceSpan[] =>
  [...trace.open.values()].map((span) => record(trace, span, { end: undefined, status: 'unset' }));
