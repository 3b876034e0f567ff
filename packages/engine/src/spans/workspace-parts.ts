import { attribute } from '@holdpoint/contract/names';
import type { TraceState } from './ids.ts';
import { close, type SpanEnd } from './spans.ts';

/** @param end `status` is `error` by default */
export const endPrepare = (trace: TraceState, end: SpanEnd): void =>
  endActions(trace, 'prepare', { status: 'error', ...end });

export const endTakeOver = (trace: TraceState, end: SpanEnd): void => endActions(trace, 'take_over', end);

function endActions(trace: TraceState, action: string, end: SpanEnd): void {
  for (const [key, { attributes }] of trace.open) {
    if (attributes[attribute.workspaceAction] === action) close(trace, key, end);
  }
}
