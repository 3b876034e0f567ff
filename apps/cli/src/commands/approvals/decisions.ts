import { type Command, Option } from 'commander';
import { type ApiOptions, apiCommand, CliError, jsonObject, readText, type Shell, seconds } from '../../shell/index.ts';
import { decide } from './decide.ts';

export interface DecisionOptions extends ApiOptions {
  digest?: string;
  message?: string;
}

export const withDigest = (command: Command): Command =>
  command.option(
    '--digest <sha256:…>',
    'decide only if the call still has this digest (default: confirm on the terminal)',
  );

interface RememberOptions {
  remember?: 'run' | 'policy';
  rememberFor?: number;
}

const withRemember = (command: Command, what: string): Command =>
  command
    .addOption(
      new Option('--remember <scope>', `the same call ${what}, in this run or in all`).choices(['run', 'policy']),
    )
    .option('--remember-for <seconds>', 'for this time (default: 30 days)', seconds);

const rememberOf = ({ remember, rememberFor }: RememberOptions) => ({
  remember,
  remember_s: rememberFor === undefined ? undefined : Math.round(rememberFor / 1000),
});

interface ApproveOptions extends DecisionOptions, RememberOptions {
  content?: string;
  rememberExternal?: true;
}

export function approveCommand(shell: Shell): Command {
  const command = apiCommand('approve', 'approve a held call or publish exactly as shown')
    .argument('<approval>', 'id of the approval')
    .option('--message <text>', 'note for the log')
    .option('--content <sha256:…>', 'digest of the whole content, where the approval shows only its beginning');
  withRemember(command, 'needs no decision any more').option(
    '--remember-external',
    'also a call with effects outside the workspace',
  );
  return withDigest(command).action(async (approvalId: string, options: ApproveOptions) => {
    const { url, content, remember, rememberFor, rememberExternal, ...rest } = options;
    const client = await shell.connect(url);
    await decide(
      { shell, client, url },
      {
        ...{ approvalId, decision: 'approve', content_digest: content, ...rememberOf({ remember, rememberFor }) },
        ...rest,
        remember_external: rememberExternal,
      },
    );
  });
}

export function rejectCommand(shell: Shell): Command {
  const command = apiCommand(
    'reject',
    'reject a held call: the planner reads that and continues; or a held publish: nothing is published',
  )
    .argument('<approval>', 'id of the approval')
    .option('--message <text>', 'reason, for the planner');
  withRemember(command, 'is rejected without a question');
  return withDigest(command).action(async (approvalId: string, options: DecisionOptions & RememberOptions) => {
    const { url, remember, rememberFor, ...rest } = options;
    const client = await shell.connect(url);
    await decide(
      { shell, client, url },
      { approvalId, decision: 'reject', ...rememberOf({ remember, rememberFor }), ...rest },
    );
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
    const given = jsonObject(await argsText(shell, { args, argsFile }), args === undefined ? '--args-file' : '--args');
    const client = await shell.connect(url);
    await decide({ shell, client, url }, { approvalId, decision: 'edit', args: given, ...rest });
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
      await decide({ shell, client, url }, { approvalId, decision: 'respond', ...options, message });
    },
  );
}

export const delegateCommand = (shell: Shell) =>
  apiCommand('delegate', 'let another caller decide on one approval in your place')
    .argument('<approval>', 'id of the approval')
    .requiredOption('--to <name>', 'name of the caller')
    .action(async (approvalId: string, { url, json, to }: ApiOptions & { to: string }) => {
      const approval = await (await shell.connect(url)).delegateApproval(approvalId, { to });
      if (json) return shell.printJson(approval);
      shell.print(`${to} may decide on ${approval.id}`);
    });
