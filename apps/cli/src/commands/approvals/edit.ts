import { type Command, Option } from 'commander';
import { CliError } from '../../errors.ts';
import type { Shell } from '../../shell.ts';
import { apiCommand, jsonObject } from '../options.ts';
import { decide } from './decide.ts';
import { type DecisionOptions, withDigest } from './digest-option.ts';
import { readText } from './read-text.ts';

interface EditOptions extends DecisionOptions {
  args?: string;
  argsFile?: string;
  message?: string;
}

export function editCommand(shell: Shell): Command {
  const command = apiCommand(
    'edit',
    'run a held call with other arguments, which are validated and meet the policy again',
  )
    .argument('<approval>', 'id of the approval')
    .addOption(new Option('--args <json>', 'all arguments, as one JSON object').conflicts('argsFile'))
    .option('--args-file <file>', 'the same, from a file; - reads standard input')
    .option('--message <text>', 'note for the log');
  return withDigest(command).action(async (approvalId: string, options: EditOptions) => {
    const { url, message, args, argsFile, ...rest } = options;
    const given = jsonObject(await argsText(shell, { args, argsFile }));
    const client = await shell.connect(url);
    await decide({ shell, client }, { approvalId, decision: 'edit', args: given, message, ...rest });
  });
}

async function argsText(shell: Shell, { args, argsFile }: Pick<EditOptions, 'args' | 'argsFile'>): Promise<string> {
  if (args !== undefined) return args;
  if (argsFile === undefined) throw new CliError('usage', 'Give the arguments with --args or --args-file.');
  if (argsFile === '-') return shell.readInput();
  return readText(shell.config.cwd, argsFile);
}
