import type { Client } from '@holdpoint/client';
import type { Run } from '@holdpoint/contract/wire';
import { type Command, Option } from 'commander';
import { stringify } from 'yaml';
import { exitCodeOf } from '../../follow-run.ts';
import { placeInPlan } from '../../plan/plan-file.ts';
import { setting } from '../../request/set-fields.ts';
import * as cli from '../../shell/index.ts';
import { followToNext } from '../watch.ts';
import { type BodyOptions, requestOf } from './body.ts';
import { nameOptions } from './name-options.ts';
import { withPolicyOptions } from './policy-options.ts';
import { refuseRemoved, withRemovedOptions } from './removed-options.ts';

type RunOptions = cli.ApiOptions & SubmitOptions & BodyOptions & { print?: true };

export function runCommand(shell: cli.Shell): Command {
  const command = cli
    .apiCommand('run', 'submit a run: a prompt for a model, a plan of tool calls, or an open run')
    .argument('[prompt]', 'what the model should do; - is stdin')
    .option('--file <file>', 'a run file: the request in YAML or JSON; - is stdin')
    .option('--set <path=value>', 'one field of it: JSON, text or @FILE; += to add', setting)
    .option('--print', 'print the request as a run file; submit nothing')
    .option('--plan [file]', 'a scripted plan (- is stdin); without a file: plan mode')
    .option('--open', 'no goal: its calls come later, with `calls`')
    .option('--source <path|url>', 'git repository, directory or archive: a copy of it')
    .option('--ref <ref>', 'branch, tag or commit of a source (default: HEAD)')
    .option('--model <provider/model>', 'model for a prompt (default: HOLDPOINT_MODEL)')
    .option('--agent <name>', 'outside agent: claude-code, codex, acp:COMMAND, …')
    .option('--toolset <name>', 'tools that it may call (default: holdpoint)');
  withPolicyOptions(command)
    .option('--allow-net <host[:port]>', 'let tools reach this host (default: none)', cli.several)
    .option('--validate <command>', 'a command that must pass before a publish', cli.several)
    .option('--dry-run', 'publish nothing, and make no external effect')
    .option('--title <text>', 'title in lists')
    .option('--label <name=value>', 'label of the run', cli.label);
  withSubmitOptions(command);
  // For scripts; the help shows what people type.
  command.options.find(({ long }) => long === '--idempotency-key')?.hideHelp();
  return withRemovedOptions(command)
    .addHelpText('after', help)
    .action(async (prompt: string | undefined, options: RunOptions) => {
      await refuseRemoved({ ...options });
      const { body, plan, given } = await requestOf(shell, prompt, options);
      if (options.print) return options.json ? shell.printJson(body) : shell.write(stringify(body, { lineWidth: 0 }));
      const client = await shell.connect(options.url);
      const { idempotencyKey } = options;
      const submitted = await client.createRun(body, { idempotencyKey }).catch((error: unknown) => {
        throw nameOptions(placeInPlan(error, plan, given.fromPlan), given);
      });
      await followSubmitted({ shell, client }, submitted, options);
    });
}

const help = `
--set, --hold, --deny, --allow-net, --validate and --label may be repeated.
All other fields: in the run file (body of POST /v1/runs) or --set, which wins:
  ${cli.commandLine('run')} --file run.yaml --set limits.max_turns=5
  ${cli.commandLine('run')} "Fix it" --source . --set workspace.source.with+=lib`;

export interface SubmitOptions extends cli.FollowOptions {
  json?: boolean;
  follow?: true;
  detach?: true;
  idempotencyKey?: string;
}

/** Options of a command for submitting a run. */
export function withSubmitOptions(command: Command): Command {
  command
    .addOption(new Option('--follow', 'print its events until it ends (default on a tty)').conflicts('detach'))
    .option('--detach', 'print its id and return (default without a tty)')
    .option('--idempotency-key <text>', 'the same key within 24 hours: the same run');
  return cli.withFollowOptions(command);
}

/** Prints the submitted run. On a terminal, or by option, follows the run to its end. */
export async function followSubmitted(
  { shell, client }: { shell: cli.Shell; client: Client },
  { run, created }: { run: Run; created: boolean },
  options: SubmitOptions,
): Promise<void> {
  const { json = false } = options;
  if (!created) shell.say(`${run.id} was already submitted with this key.`);
  if (!follows(shell, run, options)) {
    if (json) return shell.printJson(run);
    shell.print(run.id);
    if (run.planner === 'open') {
      shell.say(`call:     ${cli.commandLine('calls', run.id)} '{"tool": "…", "args": {…}}'`);
      return shell.say(`finish:   ${cli.commandLine('finish', run.id)}`);
    }
    return shell.say(`follow:   ${cli.commandLine('watch', run.id)}`);
  }
  const { workers } = await client.ready();
  if (workers === 0) shell.say('No worker is running: the run waits for one (npm start).');
  const input = { runId: run.id, json, wait: options.wait, timeoutMs: options.timeout };
  const ended = await followToNext({ shell, client }, input);
  shell.exitCode = exitCodeOf(ended);
}

/** The exit codes of --timeout, --wait and --no-wait hold with and without a terminal. An open run does nothing before it gets calls. */
function follows(shell: cli.Shell, { planner }: Run, { follow, detach, timeout, wait }: SubmitOptions): boolean {
  if (detach === true) return false;
  return follow === true || timeout !== undefined || wait !== undefined || (shell.interactive && planner !== 'open');
}
