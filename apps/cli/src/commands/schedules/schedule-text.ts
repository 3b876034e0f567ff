import type { Occurrence } from '@holdpoint/contract';
import type { Schedule } from '@holdpoint/contract/wire';
import { counted, pairs, plain } from '../../output/index.ts';
import { until } from '../../output/units.ts';

/** A schedule in lines for a person. */
export function scheduleText(schedule: Schedule, now: number): string[] {
  const { paused, next, upcoming, running, waiting, last, failures } = schedule;
  return pairs({
    schedule: `${schedule.name}, version ${schedule.version}, ${schedule.status}`,
    paused: paused && `by ${plain(paused.by)} at ${paused.at}${paused.reason ? `: ${plain(paused.reason)}` : ''}`,
    when: whenText(schedule),
    next: paused === null && next !== null ? `${next} (${until(next, now)})` : null,
    'after it': upcoming.slice(1).join('\n'),
    overlap: schedule.overlap,
    note: schedule.note && plain(schedule.note),
    running: running.map(({ run_id }) => run_id).join('\n'),
    waiting: waiting > 0 ? counted(waiting, 'occurrence') : null,
    failures: failures > 0 ? `${failures} in a row` : null,
    last: last && `${last.scheduled_for}: ${outcomeText(last)}`,
    'runs as': plain(schedule.runs_as),
  });
}

/** The times of a schedule in a few words. */
export function whenText({ cron, every_s, zone, end_at }: Schedule): string {
  const times = cron === undefined ? `every ${every_s} s` : `${plain(cron)} ${zone}`;
  return end_at === undefined ? times : `${times}, until ${end_at}`;
}

export function outcomeText({ outcome, run_id, reason, count, until }: Occurrence): string {
  if (run_id !== undefined) return outcome;
  const several = count === undefined ? '' : ` ${count} until ${until}`;
  return `${outcome}${several}: ${plain(reason ?? '')}`;
}
