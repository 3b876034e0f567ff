import { z } from 'zod';
import { eventSchema, type LoggedEvent } from '../events.ts';
import { integerParameter, pageOf } from './page.ts';

const seq = z.int().min(1).describe('Dense, from 1, per run');
const options = eventSchema.options.map((option: z.ZodObject) => option.extend({ seq }));

/** An event as the API sends it: as it is logged, with its sequence number. */
export const runEventSchema: z.ZodType<LoggedEvent, LoggedEvent> = z.discriminatedUnion(
  'type',
  options as unknown as [EventOption, ...EventOption[]],
);
/** The compiler cannot follow `extend` over a union of forty members; the schema is the engine's own, and one field. */
type EventOption = z.ZodType<LoggedEvent, LoggedEvent> & z.core.$ZodTypeDiscriminable;

export type { LoggedEvent as RunEvent } from '../events.ts';

/** `next_cursor` is the value of `after` to go on with. */
export const eventPageSchema = pageOf(runEventSchema);

export const listEventsQuerySchema = z.strictObject({
  after: integerParameter(0, Number.MAX_SAFE_INTEGER)
    .optional()
    .describe('Sequence number after which to begin. Default: from the start, or Last-Event-ID when streaming'),
  limit: integerParameter(1, 1000).default(200).describe('Events of one page; a stream has no limit'),
});

/** Name of the server-sent event after which a run's stream ends for good. Its data: the last sequence number. */
export const endOfStream = 'end';
/** Name of the server-sent event on GET /v1/events. Its data: the run as it is now. */
export const runChanged = 'run.changed';
