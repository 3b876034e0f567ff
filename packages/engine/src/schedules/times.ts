import { createHash } from 'node:crypto';
import { Cron } from 'croner';
import type { Times } from './store.ts';

/** A cron text is five fields or a name. The library also takes dates, which occur once. */
const cronForm = /^(?:@(?:yearly|annually|monthly|weekly|daily|midnight|hourly)|\S+(?:\s+\S+){4})$/;

export class ScheduleTimesError extends Error {
  /** The field of the schedule with the mistake. */
  readonly field: keyof Times;

  constructor(field: keyof Times, message: string) {
    super(message);
    this.name = 'ScheduleTimesError';
    this.field = field;
  }
}

/** Gives the occurrences of a schedule, in milliseconds since the epoch. */
export interface Clockwork {
  /** The first occurrence after a time; undefined: there is none. */
  after(time: number): number | undefined;
}

/**
 * @param anchor milliseconds: an interval without `start_at` counts from here, and no occurrence is before
 * @throws ScheduleTimesError
 */
export function openClockwork(times: Times, anchor: number): Clockwork {
  const first = times.start_at === undefined ? undefined : Date.parse(times.start_at);
  const last = times.end_at === undefined ? Number.POSITIVE_INFINITY : Date.parse(times.end_at);
  const following = followingOf(times, first ?? anchor);
  return {
    after(time) {
      const from = first === undefined ? Math.max(time, anchor) : Math.max(time, first - 1);
      const found = following(from);
      return found === undefined || found > last ? undefined : found;
    },
  };
}

type Following = (time: number) => number | undefined;

function followingOf(times: Times, anchor: number): Following {
  const { cron, every_s } = times;
  if (cron !== undefined && every_s !== undefined)
    throw new ScheduleTimesError('every_s', 'give one of cron and every_s, not both');
  if (cron !== undefined) return cronOf(cron, times.zone);
  if (every_s === undefined) throw new ScheduleTimesError('cron', 'give cron or every_s');
  const every = every_s * 1000;
  return (time) => anchor + (Math.floor((time - anchor) / every) + 1) * every;
}

function cronOf(text: string, zone: string): Following {
  checkZone(zone);
  if (!cronForm.test(text.trim())) {
    const fields = 'minute, hour, day of the month, month, weekday';
    throw new ScheduleTimesError('cron', `expected five fields (${fields}) or a name such as @daily`);
  }
  try {
    const cron = new Cron(text.trim(), { mode: '5-part', timezone: zone, paused: true });
    return (time) => cron.nextRun(new Date(time))?.getTime();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ScheduleTimesError('cron', why.replace(/^CronPattern: /, ''));
  }
}

function checkZone(zone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
  } catch {
    throw new ScheduleTimesError('zone', `there is no time zone ${zone}; write a name such as Europe/Berlin or UTC`);
  }
}

/** Milliseconds that an occurrence begins later: the same in every process. */
export function jitterOf({ jitter_s }: Times, id: string, occurrence: number): number {
  if (jitter_s === 0) return 0;
  const bytes = createHash('sha256').update(`${id} ${occurrence}`).digest();
  return Math.floor((bytes.readUInt32BE(0) / 2 ** 32) * jitter_s * 1000);
}
