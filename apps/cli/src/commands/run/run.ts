import { type Command, Option } from 'commander';
import { placeInPlan } from '../../plan/index.ts';
import { type ApiOptions, apiCommand, label, type Shell, several } from '../../shell/index.ts';
import { type BodyOptions, bodyOf, fieldsOfFile } from './body.ts';
import { commits } from './commits.ts';
import { followSubmitted, type SubmitOptions, withSubmitOptions } from './follow-submitted.ts';
import { withGoalOptions } from './goal-options.ts';
import { withGrantOptions } from './grant-options.ts';
import { withLimitOptions } from './limit-options.ts';
import { nameOptions } from './name-options.ts';
import { withPolicyOptions } from './policy-options.ts';
import { secretHeader, secretVariable } from './secret-options.ts';
import { withSettingOptions } from './setting-options.ts';

type RunOptions = ApiOptions & SubmitOptions & BodyOptions;

export function runCommand(shell: Shell): Command {
  const command = apiCommand('run', 'submit a run: a prompt for a model, a plan of tool calls, or an open run')
    .argument('[prompt]', 'what the model should do; - reads standard input')
    .option('--plan <file>', 'a scripted plan in YAML or JSON; - reads standard input')
    .option('--open', 'no goal: the calls come later, with `calls`, until `finish`')
    .option(
      '--source <path|url>',
      'a git repository (also https://… or git@host:path), a directory, or a .tar, .tar.gz or .zip file; the run works on a copy (default: empty)',
    )
    .option('--ref <ref>', 'branch, tag or commit of a git source (default: HEAD)')
    .option('--history <commits>', 'how many commits `git log` sees: a number, full or none (default: 100)', commits)
    .option('--source-secret <NAME>', 'secret with the token (https) or private key (ssh) of a URL')
    .option('--source-user <name>', 'user name beside the token (default: x-access-token)')
    .option('--known-hosts <file>', "keys of the host of an ssh URL (default: the operator's)")
    .addOption(
      new Option('--source-type <type>', 'treat the source as this type').choices(['git', 'directory', 'archive']),
    )
    .option('--include <glob>', 'copy only matching files; may be repeated (default: all)', several)
    .option('--exclude <glob>', 'leave out matching files; may be repeated', several)
    .option(
      '--with <folder>',
      'let the run see this folder of the source, such as node_modules, read-only and without a copy; may be repeated',
      several,
    )
    .option('--toolset <name>', 'tools that the run may call (default: holdpoint)')
    .option(
      '--agent-model <provider/model>',
      'another model that sub-agents may use; may be repeated (default: only the model of the run)',
      several,
    )
    .option('--agent-kind <file>', 'a kind of sub-agent, in Markdown with front matter; may be repeated', several)
    .option('--label <name=value>', 'label of the run; may be repeated', label)
    .option('--allow-net <host[:port]>', 'let tools reach this host; may be repeated (default: none)', several)
    .addOption(new Option('--allow <host[:port]>', 'the same').argParser(several).hideHelp())
    .option('--prepare <command>', 'run this once before the first turn, such as `npm ci`; may be repeated', several)
    .option('--prepare-allow <host[:port]>', 'let these commands reach this host; may be repeated', several)
    .option(
      '--secret <NAME[=VARIABLE]>',
      'give commands this secret as a variable (default: of the same name); may be repeated',
      secretVariable,
    )
    .option(
      '--secret-header <NAME@host=header: text>',
      'let the proxy add this header to requests to the host, {} is the secret; may be repeated',
      secretHeader,
    )
    .option(
      '--validate <command>',
      'validator: a command that must pass before a publish; may be repeated (default: none)',
      several,
    )
    .option('--title <text>', 'title in lists')
    .addOption(new Option('--priority <level>', 'jobs of a higher level run first').choices(['high', 'normal', 'low']));
  return withSubmitOptions(
    withLimitOptions(withGrantOptions(withSettingOptions(withPolicyOptions(withGoalOptions(command))))),
  ).action(async (prompt: string | undefined, { allow, ...given }: RunOptions & { allow?: string[] }) => {
    const options = allow === undefined ? given : { ...given, allowNet: [...(given.allowNet ?? []), ...allow] };
    const { body, plan } = await bodyOf(shell, prompt, options);
    const client = await shell.connect(options.url);
    const { idempotencyKey } = options;
    const submitted = await client.createRun(body, { idempotencyKey }).catch((error: unknown) => {
      const fromFile = fieldsOfFile(plan, options);
      throw nameOptions(placeInPlan(error, plan, fromFile), plan === undefined ? [] : fromFile);
    });
    await followSubmitted({ shell, client }, submitted, options);
  });
}
