import type { Command } from 'commander';
import { stringify } from 'yaml';
import { placeInPlan } from '../../plan/read-plan.ts';
import { setting } from '../../request/set-fields.ts';
import { type ApiOptions, apiCommand, commandLine, label, type Shell, several } from '../../shell/index.ts';
import { type BodyOptions, requestOf } from './body.ts';
import { followSubmitted, type SubmitOptions, withSubmitOptions } from './follow-submitted.ts';
import { nameOptions } from './name-options.ts';
import { withPolicyOptions } from './policy-options.ts';
import { refuseRemoved, withRemovedOptions } from './removed-options.ts';

type RunOptions = ApiOptions & SubmitOptions & BodyOptions & { print?: true };

export function runCommand(shell: Shell): Command {
  const command = apiCommand('run', 'submit a run: a prompt for a model, a plan of tool calls, or an open run')
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
    .option('--allow-net <host[:port]>', 'let tools reach this host (default: none)', several)
    .option('--validate <command>', 'a command that must pass before a publish', several)
    .option('--dry-run', 'publish nothing, and make no external effect')
    .option('--title <text>', 'title in lists')
    .option('--label <name=value>', 'label of the run', label);
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
  ${commandLine('run')} --file run.yaml --set limits.max_turns=5
  ${commandLine('run')} "Fix it" --source . --set workspace.source.with+=lib`;
