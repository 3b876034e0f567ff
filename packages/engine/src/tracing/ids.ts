import { hash } from 'node:crypto';
import { attribute, partsOfTraceparent } from '@holdpoint/contract/names';

const digest = (text: string): string => hash('sha256', text);

/** The trace of a run: that of its caller, or one of its own. */
export const traceIdOf = (runId: string, traceparent?: string): string =>
  traceparent === undefined ? digest(runId).slice(0, 32) : partsOfTraceparent(traceparent).traceId;

/** The trace of a run that is in that of its caller; undefined: it is known from the id of the run. */
export const traceOfCaller = ({ id, traceparent }: { id: string; traceparent?: string | undefined }) =>
  traceparent === undefined ? undefined : traceIdOf(id, traceparent);

/** Any process can compute the id of any span: nothing carries it. @param what a name of `spanKeys` */
export const spanIdOf = (runId: string, what: string): string => digest(`${runId}/${what}`).slice(0, 16);

/** What a span is, in its run. Ids of steps, tasks, approvals and messages are their own names. */
export const spanKeys = {
  /** @param life from 1: a run that is retried after its end begins one more */
  run: (life = 1): string => (life === 1 ? 'run' : `run/${life}`),
  segment: (number: number): string => `segment/${number}`,
  /** @param rewinds how often the run was taken back before: numbers of turns are used again */
  turn: (number: number, rewinds = 0): string => (rewinds === 0 ? `turn/${number}` : `turn/${number}/${rewinds}`),
  attempt: (stepId: string, attempt: number): string => `${stepId}/${attempt}`,
  capture: (taskId: string): string => `${taskId}/capture`,
  materialise: 'workspace/materialise',
  /** The tree that a worker makes under this epoch. */
  takeOver: (epoch: number): string => `workspace/${epoch}`,
  publish: (number: number): string => `publish/${number}`,
  /** What has no name: the event that began it says which. */
  at: (what: 'wait' | 'prepare' | 'validate' | 'discard' | 'repair' | 'request' | 'compact', seq: number): string =>
    `${what}/${seq}`,
} as const;

/** A link to a span of another run. @param to.key default: the run itself */
export const linkToRun = (
  runId: string,
  type: string,
  to: { traceId?: string | undefined; key?: string | undefined } = {},
) => ({
  trace_id: to.traceId ?? traceIdOf(runId),
  span_id: spanIdOf(runId, to.key ?? spanKeys.run()),
  attributes: { [attribute.linkType]: type, [attribute.linkedRunId]: runId },
});
