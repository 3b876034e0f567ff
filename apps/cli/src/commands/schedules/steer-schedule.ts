import type { Client } from '@holdpoint/client';
import type { Schedule } from '@holdpoint/contract/wire';
import { type Command, Option } from 'commander';
import { type ApiOptions, apiCommand, type Shell } from '../../shell/index.ts';
import { scheduleText } from './schedule-text.ts';

interface SteerOptions extends ApiOptions {
  reason?: string;
  from: string;
  to: string;
  overlap?: 'queue_one' | 'allow';
}

const steer =
  (shell: Shell, act: (client: Client, name: string, options: SteerOptions) => Promise<Schedule>) =>
  async (name: string, options: SteerOptions): Promise<void> => {
    const schedule = await act(await shell.connect(options.url), name, options);
    if (options.json) return shell.printJson(schedule);
    for (const line of scheduleText(schedule, Date.now())) shell.print(line);
  };

const scheduleCommand = (name: string, about: string): Command =>
  apiCommand(name, about).argument('<name>', 'name of the schedule');

export const pauseCommand = (shell: Shell): Command =>
  scheduleCommand('pause', 'leave out its occurrences until it is resumed')
    .option('--reason <text>', 'why')
    .action(steer(shell, (client, name, { reason }) => client.pauseSchedule(name, reason)));

export const resumeCommand = (shell: Shell): Command =>
  scheduleCommand('resume', 'continue with its next occurrence, with the rights of your key').action(
    steer(shell, (client, name) => client.resumeSchedule(name)),
  );

export const triggerCommand = (shell: Shell): Command =>
  scheduleCommand('trigger', 'submit a run now').action(steer(shell, (client, name) => client.triggerSchedule(name)));

export const backfillCommand = (shell: Shell): Command =>
  scheduleCommand('backfill', 'submit runs for past occurrences')
    .requiredOption('--from <time>', 'the first occurrence is at this time or after it: 2026-11-30T00:00:00Z')
    .requiredOption('--to <time>', 'the last one is at this time or before it')
    .addOption(new Option('--overlap <how>', 'one after the other, or all at once').choices(['queue_one', 'allow']))
    .action(
      steer(shell, (client, name, { from, to, overlap }) => client.backfillSchedule(name, { from, to, overlap })),
    );
