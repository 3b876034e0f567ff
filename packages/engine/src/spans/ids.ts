import { hash } from 'node:crypto';
import type { EventOf, TraceSpan } from '@holdpoint/contract';
import { attribute, partsOfTraceparent } from '@holdpoint/contract/names';
import type { ContentRedactor } from './content.ts';

const digest = (text: string): string => hash('sha256', text);

/** The trace of a run: the trace of its caller, or its own. */
export const traceIdOf = (runId: string, traceparent?: string): string =>
  traceparent === undefined ? digest(runId).slice(0, 32) : partsOfTraceparent(traceparent).traceId;

/** The trace of a run inside its caller's trace; undefined: the trace id is computed from the run's id. */
export const traceOfCaller = ({ id, traceparent }: { id: string; traceparent?: string | undefined }) =>
  traceparent === undefined ? undefined : traceIdOf(id, traceparent);

/** Any process can compute the id of any span, so no message carries span ids. The second parameter is a name from `spanKeys`. */
export const spanIdOf = (runId: string, what: string): string => digest(`${runId}/${what}`).slice(0, 16);

/** Names of spans within their run. Ids of steps, tasks, approvals and messages serve as names. */
export const spanKeys = {
  /** @param life from 1: a run that is retried after its end begins another life */
  run: (life = 1): string => (life === 1 ? 'run' : `run/${life}`),
  segment: (number: number): string => `segment/${number}`,
  /** The request or the plan of a turn. @param rewinds how often the run was rewound before: the numbers of turns repeat */
  turn: (number: number, rewinds = 0): string => (rewinds === 0 ? `turn/${number}` : `turn/${number}/${rewinds}`),
  /** A turn lies in one segment: a segment that ends cuts the turn off. */
  turnIn: (segment: number, turn: number): string => `segment/${segment}/turn/${turn}`,
  attempt: (stepId: string, attempt: number): string => `${stepId}/${attempt}`,
  capture: (taskId: string): string => `${taskId}/capture`,
  materialise: 'workspace/materialise',
  /** The tree that a worker makes under this epoch. */
  takeOver: (epoch: number): string => `workspace/${epoch}`,
  publish: (number: number): string => `publish/${number}`,
  /** A span without a name, identified by the event that began the span. */
  at: (what: 'wait' | 'prepare' | 'validate' | 'discard' | 'repair' | 'request' | 'compact', seq: number): string =>
    `${what}/${seq}`,
} as const;

/** A link to a span of another run. @param to.key default: the run's span */
export const linkToRun = (
  runId: string,
  type: string,
  to: { traceId?: string | undefined; key?: string | undefined } = {},
) => ({
  trace_id: to.traceId ?? traceIdOf(runId),
  span_id: spanIdOf(runId, to.key ?? spanKeys.run()),
  attributes: { [attribute.linkType]: type, [attribute.linkedRunId]: runId },
});

/** A span that has not ended. */
export interface OpenSpan extends Pick<TraceSpan, 'kind' | 'name' | 'attributes' | 'events' | 'links'> {
  id: string;
  /** Milliseconds since the epoch. */
  start: number;
  /** The key of the parent span. Null: the parent is the segment around the span, or the run when the span crosses segments. */
  parent: string | null;
  /**
   * The number of the segment in which the span began. For a span inside another span: in which the outermost span (below the run) began.
   * 0: none.
   */
  segment: number;
}

/** The trace of one run, folded from its log so far. Its size depends on the open spans, not on the length of the log. */
export interface TraceState {
  runId: string;
  traceId: string;
  /** The caller's span above the run. */
  remoteParent: string | null;
  /** The time of the last event, milliseconds since the epoch. Never goes back, even when the clocks of workers differ. */
  now: number;
  /** The sequence number of the last event. */
  seq: number;
  planner: EventOf<'run.created'>['data']['planner'];
  toolset: string;
  tenant: string;
  /** Undefined: no span has content. */
  redact: ContentRedactor | undefined;
  model: string | undefined;
  /** The original run of a fork, and its trace when the trace belongs to a caller. */
  origin: { runId: string; traceId: string | undefined } | undefined;
  /** Open spans by their key. */
  open: Map<string, OpenSpan>;
  /** The number of the current life; 0 before the first. */
  life: number;
  isAlive: boolean;
  /** The number of the last segment. */
  segments: number;
  /** Spans lie in the present segment, so its state cannot be replaced. */
  segmentIsUsed: boolean;
  segmentSteps: number;
  state: SegmentState;
  /** Since when the planner can be asked. */
  due: number | undefined;
  /** When a model without an answer is asked again. Milliseconds since the epoch. */
  askedAgain: number | undefined;
  /** Steps of the turn that are not settled. */
  left: number;
  steps: number;
  turns: number;
  /** The number of the last planned turn, or of the turn that a rewind or a fork continues. */
  turn: number;
  /** The key of the open span of a turn. */
  inTurn: string | undefined;
  /** Unread messages by their numbers, from 1. */
  messages: Map<number, string>;
  received: number;
  /** How many times the run was rewound. */
  rewinds: number;
  publishes: number;
  /** When the copy of the source began, according to the log. */
  copying: number | undefined;
  closed: TraceSpan[];
  /** `OpenSpan.segment` of recorded spans. */
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
  ...{ due: undefined, askedAgain: undefined, left: 0, steps: 0, turns: 0, turn: 0, inTurn: undefined },
  ...{ messages: new Map(), received: 0 },
  ...{ rewinds: 0, publishes: 0, copying: undefined, closed: [], segmentOf: new WeakMap() },
});
