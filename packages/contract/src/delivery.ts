import { z } from 'zod';
import { eventTypes } from './events/index.ts';

const families = [...new Set(eventTypes.map((type) => type.slice(0, type.indexOf('.'))))];
const selectors: ReadonlySet<string> = new Set([...eventTypes, ...families.map((family) => `${family}.*`), '*']);

/** Names event types: one type, `run.*` for all types of a family, or `*`. */
const eventSelectorSchema = z
  .string()
  .refine((text) => selectors.has(text), 'expected an event type such as run.failed, a family such as run.*, or *');

export const deliveryNameSchema = z
  .string()
  .regex(
    /^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/,
    'expected 1 to 64 lower case letters, digits, - and _, beginning and ending with a letter or digit',
  );

/** The events that an endpoint receives. */
export const eventFilterSchema = z.strictObject({
  events: z
    .array(eventSelectorSchema)
    .min(1)
    .max(100)
    .describe('Event types, families such as approval.*, or *. Events of the family run of sub-agents are left out'),
  labels: z
    .record(z.string().min(1).max(63), z.string().max(255))
    .refine((labels) => Object.keys(labels).length <= 16, 'a filter has at most 16 labels')
    .default({})
    .describe('Only events of runs that have all these labels'),
});
export type EventFilter = z.infer<typeof eventFilterSchema>;

export const selectsType = ({ events }: Pick<EventFilter, 'events'>, type: string): boolean =>
  events.some((one) => one === '*' || one === type || (one.endsWith('.*') && type.startsWith(one.slice(0, -1))));

/** Why a receiver is off: a person paused it, it answered 410, or it failed for the whole table of retries. */
export const deliveryOffSchema = z.strictObject({
  at: z.iso.datetime({ offset: true }),
  by: z.string(),
  reason: z.string().optional(),
});

/** One try at a delivery, as a log shows it. */
export const deliveryTrySchema = z.strictObject({
  event_id: z.string(),
  type: z.string(),
  run_id: z.string(),
  seq: z.int(),
  at: z.iso.datetime({ offset: true }),
  ms: z.int().describe('How long it took'),
  outcome: z.enum(['delivered', 'failed']),
  status: z.int().optional().describe('The status of the answer; absent: there was none'),
  error: z.string().optional().describe('Why it failed'),
  redelivered: z.literal(true).optional().describe('A caller had asked for this event again'),
});
export type DeliveryTry = z.infer<typeof deliveryTrySchema>;
