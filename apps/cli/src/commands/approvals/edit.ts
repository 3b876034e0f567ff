import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { CliError } from '../../errors.ts';
import type { Shell } from '../../shell.ts';
import { apiCommand, jsonObject } from '../options.ts';
import { decide } from './decide.ts';
import { type DecisionOptions, withDigest } from './digest-option.ts';

interface EditOptions extends DecisionOptions {
  args?: string;
  argsFile?: string;
  message?: string;
}

export function editCommand(shell: Shell): Command {
  const command = apiCommand(
    'edit',
    'let a held call run with other arguments; they pass the checks and the policy again',
  )
    .argument('<approval>', 'id of the approval')
    .addOption(new Option('--args <json>', 'all of its arguments, as one JSON object').conflicts('argsFile'))
    .option('--args-file <file>', 'the same from a file; - reads standard input')
    .option('--message <text>', 'words for the log');
  return withDigest(command).action(async (approvalId: string, options: EditOptions) => {
    const { url, message, args, argsFile, ...rest } = options;
    const given = jsonObject(await argsText(shell, { args, argsFile }));
    const client = await shell.connect(url);
    const words = message === undefined ? {} : { message };
    await decide({ shell, client }, { approvalId, decision: 'edit', args: given, ...words, ...rest });
  });
}

async function argsText(shell: Shell, { args, argsFile }: Pick<EditOptions, 'args' | 'argsFile'>): Promise<string> {
  if (args !== undefined) return args;
  if (argsFile === undefined) throw new CliError('usage', 'Give the arguments with --args or --args-file.');
  if (argsFile === '-') return shell.readInput();
  return readFile(resolve(shell.config.cwd, argsFile), 'utf8').catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CliError('usage', `${argsFile} cannot be read: ${reason}`, { cause });
  });
}
