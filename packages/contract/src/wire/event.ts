import { z } from 'zod';
import { eventSchema, type LoggedEvent } from '../events/index.ts';
import { approvalIdSchema, runIdSchema } from '../ids.ts';
import { decisionKindSchema, riskSchema } from '../vocabulary.ts';
import { integerParameter, pageOf } from './page.ts';

const seq = z.int().min(1).describe('Dense, from 1, per run');
const options = eventSchema.options.map((option: z.ZodObject) => option.extend({ seq }));

/** A logged event with its sequence number, as sent by the API. */
export const runEventSchema: z.ZodType<LoggedEvent, LoggedEvent> = z
  .discriminatedUnion('type', options as unknown as [EventOption, ...EventOption[]])
  .meta({ id: 'RunEvent' });
/** The compiler cannot follow `extend` over a union of forty members: the schema is `eventSchema` with an additional field. */
type EventOption = z.ZodType<LoggedEvent, LoggedEvent> & z.core.$ZodTypeDiscriminable;

export type { LoggedEvent as RunEvent } from '../events/index.ts';

/** `next_cursor` is the value of `after` for the next page. */
export const eventPageSchema = pageOf(runEventSchema);

export const listEventsQuerySchema = z.strictObject({
  after: integerParameter(0, Number.MAX_SAFE_INTEGER)
    .optional()
    .describe('Return events after this sequence number. Default: from the start, or Last-Event-ID when streaming'),
  live: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .describe('In a stream: also what is written now and is in no log. Default: false'),
  limit: integerParameter(1, 1000).default(200).describe('Events per page; a stream has no limit'),
});

/** GET /v1/events. */
export const listAllEventsQuerySchema = z.strictObject({
  since: z.iso.datetime({ offset: true }).optional().describe('Leaves out the events before this time'),
  limit: integerParameter(1, 1000).default(200).describe('Events per page; a stream has no limit'),
  cursor: z
    .string()
    .regex(/^[^:]+:\d{1,15}$/, 'expected the next_cursor of a page')
    .transform((text) => ({ runId: text.slice(0, text.indexOf(':')), seq: Number(text.slice(text.indexOf(':') + 1)) }))
    .pipe(z.strictObject({ runId: runIdSchema, seq: z.int() }))
    .optional()
    .describe('`next_cursor` of the previous page'),
});

/** Name of the last server-sent event of a run's stream: no event follows. Its data: the last sequence number. */
export const endOfStream = 'end';
/** Name of the server-sent events with live text. Their data: a `LiveFrame`. They have no id, and are not sent again. */
export const liveEvent = 'live';
/** Name of a server-sent event on GET /v1/events. Its data: the run at this moment. */
export const runChanged = 'run.changed';
/** Name of a server-sent event on GET /v1/events, for callers with `approvals:read`. Its data: an `ApprovalChange`. */
export const approvalChanged = 'approval.changed';

/** What happened to an approval: an event of the log of its run, without the arguments of the call. */
export const approvalChangeSchema = z
  .strictObject({
    approval_id: approvalIdSchema,
    run_id: runIdSchema,
    step_id: z.string().nullable().describe('null: the approval is about the publish of the run'),
    seq,
    time: z.iso.datetime(),
    change: z.enum([
      ...(['requested', 'decided', 'expired', 'canceled', 'voted', 'delegated', 'escalated', 'reminded'] as const),
      ...(['preview_requested', 'preview_failed'] as const),
    ]),
    by: z.string().nullable().describe('Who decided, voted, delegated or asked for the result; null: no caller did'),
    decision: decisionKindSchema.nullable().describe('With `decided`'),
    risk: riskSchema.nullable().describe('With `requested`'),
    expires_at: z.iso.datetime().nullable().describe('With `requested`'),
  })
  .meta({ id: 'ApprovalChange' });
export type ApprovalChange = z.infer<typeof approvalChangeSchema>;
