import type { EventOf, TraceSpan } from '@holdpoint/contract';
import type { ContentRedactor } from './content.ts';
import { traceIdOf } from './ids.ts';

/** A span that has not ended. */
export interface OpenSpan extends Pick<TraceSpan, 'kind' | 'name' | 'attributes' | 'events' | 'links'> {
  id: string;
  /** Milliseconds since the epoch. */
  start: number;
  /** The key of its parent. Null: the segment in which it lies, or the run when it lies in several. */
  parent: string | null;
  /** The segment in which it began, or its outermost span that has one; 0: none. */
  segment: number;
}

/** What is known from the log of one run so far. It grows with what is open in the run, and not with the length of the log. */
export interface TraceState {
  runId: string;
  traceId: string;
  /** The span of the caller that the run hangs under. */
  remoteParent: string | null;
  /** The time of the last event. It never goes back, whatever the clocks of the workers say. Milliseconds since the epoch. */
  now: number;
  /** The sequence number of the last event. */
  seq: number;
  planner: EventOf<'run.created'>['data']['planner'];
  toolset: string;
  tenant: string;
  /** Undefined: no span has content. */
  redact: ContentRedactor | undefined;
  model: string | undefined;
  /** The run that this one continues, and its trace when it is that of a caller. */
  origin: { runId: string; traceId: string | undefined } | undefined;
  /** What is open, by its key. */
  open: Map<string, OpenSpan>;
  /** The life that is under way; 0 before the first. */
  life: number;
  isAlive: boolean;
  /** The number of the last segment. */
  segments: number;
  /** What lies in the present segment, so that it cannot become another one. */
  segmentIsUsed: boolean;
  segmentSteps: number;
  state: SegmentState;
  /** Since when the planner can be asked. */
  due: number | undefined;
  /** When a model that did not answer is asked again. Milliseconds since the epoch. */
  askedAgain: number | undefined;
  /** Steps of the turn that are not settled. */
  left: number;
  steps: number;
  turns: number;
  /** Messages that no turn has read: their numbers, from 1. */
  messages: Map<number, string>;
  received: number;
  /** How often the run was taken back. */
  rewinds: number;
  publishes: number;
  /** When the copy of the source began, as far as the log says. */
  copying: number | undefined;
  closed: TraceSpan[];
  /** `OpenSpan.segment` of what was recorded. */
  segmentOf: WeakMap<TraceSpan, number>;
}

export type SegmentState = 'queued' | 'running' | 'waiting' | 'paused' | 'canceling';

export const emptyTrace = (runId: string, redact?: ContentRedactor): TraceState => ({
  runId,
  traceId: traceIdOf(runId),
  remoteParent: null,
  ...{ tenant: 'default', redact },
  ...{ now: 0, seq: 0, planner: 'scripted', toolset: '', model: undefined, origin: undefined, open: new Map() },
  ...{ life: 0, isAlive: false, segments: 0, segmentIsUsed: false, segmentSteps: 0, state: 'queued' },
  ...{ due: undefined, askedAgain: undefined, left: 0, steps: 0, turns: 0, messages: new Map(), received: 0 },
  ...{ rewinds: 0, publishes: 0, copying: undefined, closed: [], segmentOf: new WeakMap() },
});
