import { attribute, genAi, linkType, spanName } from '@holdpoint/contract/names';
import { spanKeys, type TraceState } from './ids.ts';
import { close, link, linkTo, open } from './spans.ts';

/**
 * Opens the span of a turn in the present segment, unless that span is open.
 * @param turn.number default: the turn after the last planned turn
 * @returns the key of the span. Undefined: the run has no segment, so the turn has no span
 */
export function openTurn(
  trace: TraceState,
  { number = trace.turn + 1, start }: { number?: number; start: number },
): string | undefined {
  const segment = spanKeys.segment(trace.segments);
  if (!trace.open.has(segment)) return undefined;
  const key = spanKeys.turnIn(trace.segments, number);
  if (trace.open.has(key)) return key;
  closeTurn(trace);
  open(trace, key, {
    ...{ kind: 'iteration', name: spanName.turn, parent: segment, start },
    attributes: { [genAi.conversationId]: trace.runId, [attribute.turn]: number },
  });
  trace.inTurn = key;
  trace.segmentIsUsed = true;
  return key;
}

/** The turn is over, or the run has ended. */
export function closeTurn(trace: TraceState): void {
  if (trace.inTurn !== undefined) close(trace, trace.inTurn);
  trace.inTurn = undefined;
}

/** The segment ends before the turn: the turn's open steps move out to the run, with a link to the turn. */
export function leaveTurn(trace: TraceState): void {
  const { inTurn } = trace;
  if (inTurn === undefined) return;
  for (const [key, span] of trace.open) {
    if (span.parent !== inTurn) continue;
    link(trace, key, linkTo(trace, inTurn, linkType.turn));
    span.parent = null;
  }
  closeTurn(trace);
}
