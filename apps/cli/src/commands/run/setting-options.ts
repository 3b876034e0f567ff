import { settingsSchema } from '@holdpoint/contract';
import type { CreateRun } from '@holdpoint/contract/wire';
import { type Command, InvalidArgumentError } from 'commander';
import { CliError, readGivenFile } from '../../shell/index.ts';

type Settings = NonNullable<CreateRun['settings']>;

/** Settings of the toolset on the command line. */
export interface SettingOptions {
  settings?: string;
  set?: Settings;
}

export const withSettingOptions = (command: Command): Command =>
  command
    .option('--settings <json|file>', 'settings of the toolset: a JSON object, or a file with one')
    .option('--set <name=value>', 'one setting of the toolset, as JSON or text; may be repeated', setting);

/** `name=value`: the value is JSON when it parses as JSON, otherwise text. */
function setting(text: string, before: Settings = {}): Settings {
  const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === '') throw new InvalidArgumentError('Expected NAME=VALUE.');
  return { ...before, [name]: jsonOr(value) };
}

function jsonOr(text: string): Settings[string] {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The settings of a run: `--set` comes before `--settings`, and both before the plan file. */
export async function settingsOf(
  { settings, set }: SettingOptions,
  { cwd, file }: { cwd: string; file: Settings | undefined },
): Promise<Settings | undefined> {
  if (settings === undefined && set === undefined) return file;
  const given = settings === undefined ? {} : await readSettings(settings, cwd);
  return { ...file, ...given, ...set };
}

/** @throws CliError `usage` */
async function readSettings(given: string, cwd: string): Promise<Settings> {
  const isFile = !given.trimStart().startsWith('{');
  const next = 'Give a JSON object in quotes, or a file with one.';
  const text = isFile ? (await readGivenFile(cwd, given, { code: 'usage', next })).toString() : given;
  const parsed = settingsSchema.safeParse(jsonOr(text));
  if (parsed.success) return parsed.data;
  throw new CliError('usage', `--settings is not a JSON object${isFile ? ` (${given})` : ''}.`, {
    next: 'Write it as {"name": value}.',
  });
}
