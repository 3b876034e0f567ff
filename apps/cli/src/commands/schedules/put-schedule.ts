import { resolve } from 'node:path';
import { type PutSchedule, putScheduleSchema } from '@holdpoint/contract/wire';
import { schemaProblems } from '@holdpoint/policy';
import type { Command } from 'commander';
import { plain } from '../../output/index.ts';
import { fieldLine, parseYaml, readFileOrInput } from '../../plan/yaml-file.ts';
import { type ApiOptions, apiCommand, CliError, type Shell, wholeNumber } from '../../shell/index.ts';
import { scheduleText } from './schedule-text.ts';

const fileHelp = `
The file has the fields of PUT /v1/schedules/{name} (docs/schedules.md):
  cron: '0 6 * * mon-fri'
  zone: Europe/Berlin
  run: { prompt: 'Update the dependencies', workspace: { source: { type: git, path: . } } }`;

type PutOptions = ApiOptions & { ifVersion?: number };

export function putScheduleCommand(shell: Shell): Command {
  return apiCommand('put', 'create or replace a schedule')
    .argument('<name>', 'name of the schedule')
    .argument('<file>', 'YAML or JSON; - is stdin')
    .option('--if-version <number>', 'only if this is its version now; 0: only if there is none', wholeNumber)
    .addHelpText('after', fileHelp)
    .action(async (name: string, file: string, { url, json, ifVersion }: PutOptions) => {
      const body = await readSchedule(shell, file);
      const { schedule, created } = await (await shell.connect(url)).putSchedule(name, body, { ifVersion });
      if (json) return shell.printJson({ created, schedule });
      shell.say(`${plain(file)} is schedule ${schedule.name}, version ${schedule.version}`);
      for (const line of scheduleText(schedule, Date.now())) shell.print(line);
    });
}

export function deleteScheduleCommand(shell: Shell): Command {
  return apiCommand('delete', 'delete a schedule; its runs continue')
    .argument('<name>', 'name of the schedule')
    .option('--if-version <number>', 'only if this is its version now', wholeNumber)
    .action(async (name: string, { url, json, ifVersion }: PutOptions) => {
      const schedule = await (await shell.connect(url)).deleteSchedule(name, { ifVersion });
      if (json) return shell.printJson(schedule);
      shell.print(`${schedule.name} is deleted; ${schedule.running.length} of its runs have not ended`);
    });
}

/** The request of a file. Paths of a local source are relative to the caller's directory. @throws CliError `usage` */
async function readSchedule(shell: Shell, file: string): Promise<PutSchedule> {
  const next = 'Give the path of a schedule file; `schedules put --help` shows one.';
  const { text, name } = await readFileOrInput(shell, file, { code: 'usage', next });
  const { value, place } = parseYaml(text, name, refuse);
  const { success, error } = putScheduleSchema.safeParse(value);
  if (!success)
    throw refuse(schemaProblems(putScheduleSchema, error.issues, value).map((problem) => fieldLine(problem, place)));
  const given = value as PutSchedule;
  const source = given.run.workspace?.source;
  if (source === undefined || !('path' in source)) return given;
  const path = resolve(shell.config.cwd, source.path ?? '');
  return { ...given, run: { ...given.run, workspace: { source: { ...source, path } as typeof source } } };
}

const refuse = (lines: string[]): CliError =>
  new CliError('usage', lines.join('\n'), { next: 'Correct the file and send it again; nothing was changed.' });
