import { type Command, Option } from 'commander';
import { type ApiOptions, apiCommand, CliError, jsonObject, type Shell } from '../../shell/index.ts';
import { decide } from './decide.ts';
import { readText } from './read-text.ts';

export interface DecisionOptions extends ApiOptions {
  digest?: string;
  message?: string;
}

export const withDigest = (command: Command): Command =>
  command.option(
    '--digest <sha256:…>',
    'decide only if the call still has this digest (default: confirm on the terminal)',
  );

export const approveCommand = (shell: Shell): Command =>
  decisionCommand(shell, 'approve', 'approve a held call or publish exactly as shown', 'note for the log');

export const rejectCommand = (shell: Shell): Command =>
  decisionCommand(
    shell,
    'reject',
    'reject a held call: the planner reads that and continues; or a held publish: nothing is published',
    'reason, for the planner',
  );

function decisionCommand(shell: Shell, decision: 'approve' | 'reject', summary: string, message: string): Command {
  const command = apiCommand(decision, summary)
    .argument('<approval>', 'id of the approval')
    .option('--message <text>', message);
  return withDigest(command).action(async (approvalId: string, { url, ...options }: DecisionOptions) => {
    const client = await shell.connect(url);
    await decide({ shell, client }, { approvalId, decision, ...options });
  });
}

interface EditOptions extends DecisionOptions {
  args?: string;
  argsFile?: string;
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
    const { url, args, argsFile, ...rest } = options;
    const given = jsonObject(await argsText(shell, { args, argsFile }));
    const client = await shell.connect(url);
    await decide({ shell, client }, { approvalId, decision: 'edit', args: given, ...rest });
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
    async (approvalId: string, answer: string, { url, ...options }: DecisionOptions) => {
      const message = answer === '-' ? (await shell.readInput()).trimEnd() : answer;
      const client = await shell.connect(url);
      await decide({ shell, client }, { approvalId, decision: 'respond', ...options, message });
    },
  );
}
