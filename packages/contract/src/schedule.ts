import { z } from 'zod';

/** What happens to an occurrence while a run of the schedule has not ended. */
export const overlaps = ['skip', 'queue_one', 'cancel_other', 'allow'] as const;
export const overlapSchema = z.enum(overlaps);
export type Overlap = z.infer<typeof overlapSchema>;

export const scheduleNameSchema = z
  .string()
  .regex(
    /^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/,
    'expected 1 to 64 lower case letters, digits, - and _, beginning and ending with a letter or digit',
  );

const day = 86_400;
const time = z.iso.datetime({ offset: true });

/** When a schedule has occurrences, and what becomes of them. Exactly one of `cron` and `every_s`. */
export const scheduleTimesShape = {
  cron: z
    .string()
    .max(200)
    .optional()
    .describe(
      'Five fields (minute, hour, day of the month, month, weekday), also L, #, names and @daily and its like. A time that a clock change leaves out is made up for right after the gap; a single time that occurs twice counts once',
    ),
  every_s: z
    .int()
    .min(60)
    .max(366 * day)
    .optional()
    .describe('Seconds between two occurrences, in place of cron'),
  zone: z.string().min(1).max(64).default('UTC').describe('IANA time zone of cron, such as Europe/Berlin'),
  start_at: time.optional().describe('No occurrence before it; every_s counts from it. Default: from now'),
  end_at: time.optional().describe('No occurrence after it'),
  jitter_s: z
    .int()
    .min(0)
    .max(day)
    .default(0)
    .describe('An occurrence begins up to so many seconds later, always the same for the same occurrence'),
  overlap: overlapSchema
    .default('skip')
    .describe(
      'While a run of the schedule has not ended: skip the occurrence, queue one (a later one is skipped), cancel the other run and begin after its end, or allow both',
    ),
  catch_up_s: z
    .int()
    .min(10)
    .max(31 * day)
    .default(300)
    .describe('An occurrence that could not begin in time still begins within so many seconds; later it is missed'),
  pause_after: z
    .int()
    .min(1)
    .max(1000)
    .nullable()
    .default(5)
    .describe('The schedule pauses after so many failed runs in a row; null: never'),
};

/** Why the schedule made no run of an occurrence, or which run it made. */
export const occurrenceOutcomes = ['submitted', 'skipped', 'missed', 'refused'] as const;

export const occurrenceSchema = z.strictObject({
  scheduled_for: time,
  kind: z.enum(['scheduled', 'triggered', 'backfill']),
  outcome: z.enum(occurrenceOutcomes),
  recorded_at: time,
  run_id: z.string().optional(),
  reason: z.string().optional().describe('Why there is no run'),
  until: time.optional().describe('The last one, when the record stands for several'),
  count: z
    .int()
    .optional()
    .describe('How many, when the record stands for several; of very many, how many were counted'),
});
export type Occurrence = z.infer<typeof occurrenceSchema>;

export const schedulePauseSchema = z.strictObject({ at: time, by: z.string(), reason: z.string().optional() });
