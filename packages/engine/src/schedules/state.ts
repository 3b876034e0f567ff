import { occurrenceSchema, schedulePauseSchema, scheduleTimesShape } from '@holdpoint/contract';
import { z } from 'zod';

const time = z.iso.datetime({ offset: true });
const timesSchema = z.object(scheduleTimesShape);
export type Times = z.output<typeof timesSchema>;

const dueSchema = z.object({
  at: time,
  kind: occurrenceSchema.shape.kind,
  /** Begins whatever runs. */
  beside: z.literal(true).optional(),
});
/** An occurrence that is to have a run. */
export type Due = z.output<typeof dueSchema>;

/** A schedule as stored. Not strict: a later version may store more. */
export const scheduleStateSchema = z.object({
  name: z.string(),
  tenant: z.string(),
  version: z.int(),
  times: timesSchema,
  note: z.string().optional(),
  /** The request of each run, checked. */
  run: z.record(z.string(), z.unknown()),
  created_at: time,
  created_by: z.string(),
  changed_at: time,
  /** The key that submits the runs. */
  key_id: z.string(),
  runs_as: z.string(),
  /** Intervals without `start_at` count from here, and no occurrence is before. */
  anchor: time,
  paused: schedulePauseSchema.optional(),
  /** The next occurrence. */
  next: time.optional(),
  waiting: z.array(dueSchema),
  /** The occurrence whose run is being submitted, under an id that was chosen before. */
  submitting: dueSchema.extend({ run_id: z.string(), since: time }).optional(),
  /** Runs without a known end. */
  running: z.array(z.object({ run_id: z.string(), scheduled_for: time, since: time })),
  failures: z.int(),
  last: occurrenceSchema.optional(),
});
export type ScheduleState = z.output<typeof scheduleStateSchema>;

/** Names a schedule of an installation. Neither part has a slash. */
export const idOf = ({ tenant, name }: Pick<ScheduleState, 'tenant' | 'name'>): string => `${tenant}/${name}`;
