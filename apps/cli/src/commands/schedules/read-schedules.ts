import type { Command } from 'commander';
import { plain, table } from '../../output/index.ts';
import { sayDamaged } from '../../output/layout.ts';
import { type ApiOptions, apiCommand, count, type Shell } from '../../shell/index.ts';
import { outcomeText, scheduleText, whenText } from './schedule-text.ts';

export function listSchedulesCommand(shell: Shell): Command {
  return apiCommand('list', 'list schedules by name').action(async ({ url, json }: ApiOptions) => {
    const data = await (await shell.connect(url)).listSchedules({
      onDamaged: (damaged) => sayDamaged(shell, { damaged }),
    });
    if (json) return shell.printJson({ data });
    const rows = data.map((one) => [
      ...[one.name, one.status, whenText(one), one.next?.slice(0, 16) ?? '-', String(one.running.length)],
      ...[one.last === null ? '-' : outcomeText(one.last), plain(one.runs_as)],
    ]);
    const head = [{ text: 'SCHEDULE' }, 'STATUS', { text: 'WHEN' }, 'NEXT (UTC)', 'RUNNING', { text: 'LAST' }, 'AS'];
    for (const line of table(head, rows, shell.tableWidth)) shell.print(line);
  });
}

export function showScheduleCommand(shell: Shell): Command {
  return apiCommand('show', 'print a schedule')
    .alias('get')
    .argument('<name>', 'name of the schedule')
    .action(async (name: string, { url, json }: ApiOptions) => {
      const schedule = await (await shell.connect(url)).getSchedule(name);
      if (json) return shell.printJson(schedule);
      for (const line of scheduleText(schedule, Date.now())) shell.print(line);
    });
}

export function occurrencesCommand(shell: Shell): Command {
  return apiCommand('history', 'print what became of its last occurrences, newest first')
    .argument('<name>', 'name of the schedule')
    .option('--limit <number>', 'at most this many', count)
    .action(async (name: string, { url, json, limit }: ApiOptions & { limit?: number }) => {
      const data = await (await shell.connect(url)).listOccurrences(name, { limit });
      if (json) return shell.printJson({ data });
      const rows = data.map((one) => [one.scheduled_for.slice(0, 19), one.kind, one.run_id ?? '-', outcomeText(one)]);
      const head = ['SCHEDULED FOR (UTC)', 'KIND', { id: 'RUN' }, { text: 'OUTCOME' }];
      for (const line of table(head, rows, shell.tableWidth)) shell.print(line);
    });
}
