import { scheduleTimesShape } from '@holdpoint/contract';
import { z } from 'zod';
import type { ScheduleState, Times } from '../store.ts';

const schema = z.object(scheduleTimesShape);

/** The times of a request, with the defaults. */
export const timesOf = (given: z.input<typeof schema>): Times => schema.parse(given);

/** A schedule that was just made. */
export function stateOf(given: z.input<typeof schema>, now: number): ScheduleState {
  const time = new Date(now).toISOString();
  return {
    ...{ name: 'nightly', tenant: 'default', version: 1, times: timesOf(given), run: {} },
    ...{ created_at: time, created_by: 'ann', changed_at: time, key_id: 'key_1', runs_as: 'ann', anchor: time },
    ...{ waiting: [], running: [], failures: 0 },
  };
}
