import { type Command, Option } from 'commander';
import { CliError, type Shell } from '../../shell/index.ts';
import { type ApiOptions, apiCommand, jsonObject } from '../options.ts';
import { decide } from './decide.ts';
import { readText } from './read-text.ts';

export interface DecisionOptions extends ApiOptions {
  digest?: string;
}

export function withDigest(command: Command): Command {
  return command.option(
    '--digest <sha256:…>',
    'decide only if the call still has this digest (default: confirm on the terminal)',
  );
}

export function approveCommand(shell: Shell): Command {
  const command = apiCommand('approve', 'approve a held call or publish exactly as shown')
    .argument('<approval>', 'id of the approval')
    .option('--message <text>', 'note for the log');
  return withDigest(command).action(async (approvalId: string, options: DecisionOptions & { message?: string }) => {
    const { url, message, ...rest } = options;
    const client = await shell.connect(url);
    await decide({ shell, client }, { approvalId, decision: 'approve', message, ...rest });
  });
}

export function rejectCommand(shell: Shell): Command {
  const command = apiCommand(
    'reject',
    'reject a held call: the planner reads that and continues; or a held publish: nothing is published',
  )
    .argument('<approval>', 'id of the approval')
    .option('--message <text>', 'reason, for the planner');
  return withDigest(command).action(async (approvalId: string, options: DecisionOptions & { message?: string }) => {
    const { url, message, ...rest } = options;
    const client = await shell.connect(url);
    await decide({ shell, client }, { approvalId, decision: 'reject', message, ...rest });
  });
}

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

export function respondCommand(shell: Shell): Command {
  const command = apiCommand('respond', 'answer a question, or answer in place of running the call')
    .argument('<approval>', 'id of the approval')
    .argument('<message>', 'the answer; - reads standard input');
  return withDigest(command).action(
    async (approvalId: string, message: string, { url, ...options }: DecisionOptions) => {
      const text = message === '-' ? (await shell.readInput()).trimEnd() : message;
      const client = await shell.connect(url);
      await decide({ shell, client }, { approvalId, decision: 'respond', message: text, ...options });
    },
  );
}
