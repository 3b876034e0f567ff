import { attribute, genAi, genAiOperation, linkType, spanName } from '@holdpoint/contract/names';
import { type SegmentState, spanKeys, type TraceState } from './ids.ts';
import { modelAttributes } from './model-requests.ts';
import { attributesOf, close, linkTo, open, type SpanEnd } from './spans.ts';
import { closeTurn, leaveTurn } from './turns.ts';

/** A running segment ends after this many steps, between two turns: a long run is read and exported in parts. */
const stepsPerSegment = 200;

/** A run begins, or is retried after its end. */
export function beginLife(
  trace: TraceState,
  { attributes, links }: { attributes: Record<string, string | number | boolean | undefined>; links: Links },
): void {
  const before = trace.life;
  trace.life += 1;
  trace.isAlive = true;
  trace.steps = 0;
  trace.turns = 0;
  const operation = trace.planner === 'model' ? genAiOperation.invokeAgent : genAiOperation.invokeWorkflow;
  open(trace, spanKeys.run(trace.life), {
    kind: 'run',
    name: spanName.run(operation, trace.toolset),
    start: trace.now,
    attributes: {
      [genAi.operation]: operation,
      [genAi.agentName]: trace.toolset,
      [genAi.conversationId]: trace.runId,
      ...(trace.planner === 'model' && modelAttributes(trace.model)),
      [attribute.planner]: trace.planner,
      [attribute.toolset]: trace.toolset,
      [attribute.runLife]: trace.life,
      ...attributes,
    },
    links: before === 0 ? links : [...links, linkTo(trace, spanKeys.run(before), linkType.previous)],
  });
  openSegment(trace, 'queued');
}

type Links = NonNullable<Parameters<typeof open>[2]['links']>;

/** The run has ended: its open spans end with the run. A publish and its parts are no part of the run. */
export function endLife(trace: TraceState, outcome: 'succeeded' | 'failed' | 'canceled', end: SpanEnd): void {
  if (!trace.isAlive) return;
  closeTurn(trace);
  const own = [spanKeys.run(trace.life), spanKeys.segment(trace.segments)];
  for (const [key, { parent }] of trace.open) if (parent === null && !own.includes(key)) close(trace, key);
  closeSegment(trace);
  const counts = { [attribute.steps]: trace.steps, [attribute.turns]: trace.turns };
  const attributes = { ...end.attributes, [attribute.runOutcome]: outcome, ...counts };
  close(trace, spanKeys.run(trace.life), { ...end, attributes });
  trace.isAlive = false;
  trace.due = undefined;
  trace.left = 0;
  trace.messages.clear();
}

/** The run enters another state. */
export function changeState(trace: TraceState, state: SegmentState, reason?: string): void {
  if (state !== 'running') trace.due = undefined;
  trace.state = state;
  const key = spanKeys.segment(trace.segments);
  const present = trace.open.get(key);
  if (present !== undefined && present.start === trace.now && !trace.segmentIsUsed) {
    present.name = spanName.segment(state);
    present.attributes = attributesOf(trace, segmentAttributes(trace, reason));
    return;
  }
  closeSegment(trace);
  openSegment(trace, state, reason);
}

/** Called between two turns. */
export function cutSegment(trace: TraceState): void {
  if (trace.state === 'running' && trace.segmentSteps >= stepsPerSegment) {
    closeSegment(trace);
    openSegment(trace, 'running');
  }
}

function openSegment(trace: TraceState, state: SegmentState, reason?: string): void {
  const before = trace.segments;
  trace.segments += 1;
  trace.segmentIsUsed = false;
  trace.segmentSteps = 0;
  trace.state = state;
  open(trace, spanKeys.segment(trace.segments), {
    kind: 'segment',
    name: spanName.segment(state),
    parent: spanKeys.run(trace.life),
    attributes: segmentAttributes(trace, reason),
    links: before === 0 ? [] : [linkTo(trace, spanKeys.segment(before), linkType.previous)],
  });
}

function closeSegment(trace: TraceState): void {
  leaveTurn(trace);
  close(trace, spanKeys.segment(trace.segments), { attributes: { [attribute.steps]: trace.segmentSteps } });
}

const segmentAttributes = (trace: TraceState, reason: string | undefined) => ({
  [attribute.segmentState]: trace.state,
  [attribute.segmentNumber]: trace.segments,
  [attribute.segmentReason]: reason,
});
