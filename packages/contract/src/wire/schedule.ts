import { z } from 'zod';
import { occurrenceSchema, overlapSchema, schedulePauseSchema, scheduleTimesShape } from '../schedule.ts';
import { integerParameter, listOf } from './page.ts';
import { createRunSchema } from './run.ts';

const time = z.iso.datetime({ offset: true });

/** PUT /v1/schedules/{name}. */
export const putScheduleSchema = z.strictObject({
  ...scheduleTimesShape,
  note: z.string().max(2000).optional().describe('For people'),
  run: createRunSchema.describe(
    'The run of each occurrence, as for POST /v1/runs. {{scheduled_for}} and {{schedule}} are replaced in its texts',
  ),
});
export type PutSchedule = z.input<typeof putScheduleSchema>;
export type PutScheduleBody = z.output<typeof putScheduleSchema>;

export const scheduleParamsSchema = z.strictObject({ name: z.string() });

/** PUT and DELETE /v1/schedules/{name}. */
export const changeScheduleQuerySchema = z.strictObject({
  if_version: integerParameter(0, 1_000_000_000)
    .optional()
    .describe('Change it only if this is its version now (409 `schedule_changed` otherwise); 0: only if there is none'),
});

const runningSchema = z.strictObject({
  run_id: z.string(),
  scheduled_for: time,
  since: time.describe('When it was submitted'),
});

export const scheduleSchema = z
  .strictObject({
    name: z.string(),
    version: z.int().describe('Counts the changes that callers made'),
    status: z.enum(['active', 'paused', 'ended']).describe('ended: it has no occurrence any more'),
    ...scheduleTimesShape,
    note: z.string().optional(),
    run: z.record(z.string(), z.unknown()),
    created_at: time,
    created_by: z.string(),
    changed_at: time,
    runs_as: z.string().describe('The name of the key that submits its runs: who changed or resumed it last'),
    paused: schedulePauseSchema.nullable(),
    next: time.nullable().describe('The next occurrence, without its jitter'),
    upcoming: z.array(time).describe('The next five, if it is not paused'),
    waiting: z.int().describe('Occurrences that wait for the end of a run'),
    running: z.array(runningSchema).describe('Its runs that had not ended when it last looked'),
    failures: z.int().describe('Failed runs in a row'),
    last: occurrenceSchema.nullable(),
  })
  .meta({ id: 'Schedule' });
export type Schedule = z.infer<typeof scheduleSchema>;
export const scheduleListSchema = listOf(scheduleSchema);

/** POST /v1/schedules/{name}/pause. */
export const pauseScheduleSchema = z.strictObject({ reason: z.string().max(500).optional() }).default({});

/** POST /v1/schedules/{name}/backfill. */
export const backfillSchema = z.strictObject({
  from: time.describe('The first occurrence is at this time or after it'),
  to: time.describe('The last one is at this time or before it'),
  overlap: overlapSchema
    .extract(['queue_one', 'allow'])
    .default('queue_one')
    .describe('queue_one: one run after the other; allow: all at once'),
});
export type Backfill = z.input<typeof backfillSchema>;

export const occurrencesQuerySchema = z.strictObject({ limit: integerParameter(1, 200).default(50) });
/** The newest first. */
export const occurrenceListSchema = z.strictObject({ data: z.array(occurrenceSchema) });
