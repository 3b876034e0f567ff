import { Command } from 'commander';
import type { Shell } from '../../shell/index.ts';
import { deleteScheduleCommand, putScheduleCommand } from './put-schedule.ts';
import { listSchedulesCommand, occurrencesCommand, showScheduleCommand } from './read-schedules.ts';
import { backfillCommand, pauseCommand, resumeCommand, triggerCommand } from './steer-schedule.ts';

export function schedulesGroup(shell: Shell): Command {
  const schedules = new Command('schedules').description('runs by the clock');
  schedules.addCommand(listSchedulesCommand(shell));
  schedules.addCommand(showScheduleCommand(shell));
  schedules.addCommand(putScheduleCommand(shell));
  schedules.addCommand(occurrencesCommand(shell));
  schedules.addCommand(triggerCommand(shell));
  schedules.addCommand(backfillCommand(shell));
  schedules.addCommand(pauseCommand(shell));
  schedules.addCommand(resumeCommand(shell));
  schedules.addCommand(deleteScheduleCommand(shell));
  return schedules;
}
