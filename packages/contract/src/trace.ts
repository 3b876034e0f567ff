import { z } from 'zod';
import { runIdSchema } from './ids.ts';

const spanId = z.string().regex(/^[0-9a-f]{16}$/);
const traceId = z.string().regex(/^[0-9a-f]{32}$/);
const attributes = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]));

/**
 * What a span is about. The segments of a `run` follow each other without a gap, so their durations add up to that of the run. All other
 * spans of the run lie in one segment, or, when they reach over several, in the run itself. What follows an ended run (a publish, a retry)
 * stands beside it in the trace, and links to it.
 */
export const spanKindSchema = z.enum([
  'run',
  /** The run was in one state: queued, running, waiting, paused or canceling. A long time in one state has several. */
  'segment',
  /** One planner decision, from the moment it was asked. With a model: its request, answer and tokens. */
  'turn',
  /** One tool call, from the turn that planned it to its outcome. */
  'step',
  /** One try at a step, on a worker. One that was lost ends where the log learned of it. */
  'attempt',
  /** A wait for a job, an approval, a question, a task or a message. It is made when it is over. */
  'wait',
  'task',
  /** Work on the workspace: materialise, take-over, capture, merge, discard. */
  'workspace',
  'publish',
]);

/** One span, from the log of a run. The names of attributes are in telemetry-names.ts. */
export const traceSpanSchema = z.strictObject({
  span_id: spanId,
  parent_id: spanId.nullable().describe('Null: no span of the trace is above it; a caller may have named one'),
  kind: spanKindSchema,
  name: z.string().describe('By the conventions, for example `execute_tool read_file`'),
  start: z.iso.datetime(),
  end: z.iso.datetime().nullable().describe('Null: it has not ended yet'),
  status: z.enum(['unset', 'ok', 'error']),
  message: z.string().optional().describe('The code of an error'),
  attributes,
  events: z.array(z.strictObject({ name: z.string(), time: z.iso.datetime(), attributes })),
  links: z.array(z.strictObject({ trace_id: traceId, span_id: spanId, attributes })),
});
export type TraceSpan = z.infer<typeof traceSpanSchema>;

/** A page of the trace of a run, in order of start. Pages follow each other by the ends of their spans; those without an end are last. */
export const traceSchema = z.strictObject({
  run_id: runIdSchema,
  trace_id: traceId,
  spans: z.array(traceSpanSchema),
  next_cursor: z.string().nullable().describe('The value of `after` for the next page'),
  has_more: z.boolean(),
});
export type Trace = z.infer<typeof traceSchema>;

/** Spans of one run that have ended, in the order in which its log ended them. A parent may follow later: it ends after its children. */
export interface EndedSpans {
  run_id: string;
  trace_id: string;
  /** What the caller sent in its request: `trace_id` is from it then. */
  traceparent?: string | undefined;
  tracestate?: string | undefined;
  spans: readonly TraceSpan[];
  /** The span of the run, in its present life. */
  run_span_id?: string | undefined;
  /** The segment in which each of them began, with all that is in it; 0: none. */
  segments?: readonly number[] | undefined;
}
