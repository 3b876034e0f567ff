import { z } from 'zod';
import { runIdSchema } from './ids.ts';

const spanId = z.string().regex(/^[0-9a-f]{16}$/);
const traceId = z.string().regex(/^[0-9a-f]{32}$/);
const attributes = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]));

/**
 * The subject of a span. The segments of a `run` follow each other without a gap, so their durations add up to the duration of the run. All
 * other spans of the run lie in a segment, or, when they reach over several, in the run. The sequel of an ended run (a publish, a retry) is
 * a sibling of the run in the trace, with a link to the run.
 */
export const spanKindSchema = z.enum([
  'run',
  /** A period of the run in a single state: queued, running, waiting, paused or canceling. A long period has several segments. */
  'segment',
  /** A turn: its requests to the planner and its steps. A segment that ends cuts the turn off; steps without an end are in the run then. */
  'iteration',
  /** A decision of the planner, from the request on. With a model: its request, answer and tokens. */
  'turn',
  /** A tool call, from its plan to its outcome. */
  'step',
  /** An attempt at a step, on a worker. A lost attempt ends at the moment when the log learned of the loss. */
  'attempt',
  /** A wait for a job, an approval, a question, a task or a message. The span appears at the end of the wait. */
  'wait',
  'task',
  /** Work on the workspace: materialise, take-over, capture, merge, discard. */
  'workspace',
  'publish',
]);

/** A span, from the log of a run. The names of attributes are in telemetry-names.ts. */
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

/** A page of the trace of a run, in order of start. Pages follow each other by the ends of their spans; spans without an end are last. */
export const traceSchema = z.strictObject({
  run_id: runIdSchema,
  trace_id: traceId,
  spans: z.array(traceSpanSchema),
  next_cursor: z.string().nullable().describe('The value of `after` for the next page'),
  has_more: z.boolean(),
});
export type Trace = z.infer<typeof traceSchema>;

/** Ended spans of a run, in the order of their ends in the log. A parent may follow later: a parent ends after its children. */
export interface EndedSpans {
  run_id: string;
  trace_id: string;
  /** From the caller's request: `trace_id` is the caller's then. */
  traceparent?: string | undefined;
  tracestate?: string | undefined;
  spans: readonly TraceSpan[];
  /** Set with the first event of the run: the span of its submission is due. */
  submitted?: { time: string; toolset: string } | undefined;
  /** The span of the run, in its present life. */
  run_span_id?: string | undefined;
  /** The segment at the beginning of each span, with all its content; 0: none. */
  segments?: readonly number[] | undefined;
}
