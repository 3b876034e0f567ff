import { hash } from 'node:crypto';
import { attribute, partsOfTraceparent } from '@holdpoint/contract/names';

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
