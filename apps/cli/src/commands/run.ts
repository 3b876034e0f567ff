import type { CreateRun } from '@holdpoint/contract/wire';
import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  findSource,
  type ParsedPlan,
  type PlanFile,
  placeInPlan,
  readPlan,
  type SourceOptions,
} from '../plan/index.ts';
import { givenPolicy } from '../policy/given-policy.ts';
import { type ApiOptions, apiCommand, CliError, count, label, type Shell, several } from '../shell/index.ts';
import { followSubmitted, type SubmitOptions, withSubmitOptions } from './follow-submitted.ts';
import { type GrantOptions, grantsOf, overriddenGrants, withGrantOptions } from './grant-options.ts';
import { secretHeader, secretVariable } from './secret-options.ts';
import { type SettingOptions, settingsOf, withSettingOptions } from './setting-options.ts';

type SecretUses = NonNullable<CreateRun['secrets']>;

interface RunOptions extends ApiOptions, SubmitOptions, SourceOptions, GrantOptions, SettingOptions {
  plan?: string;
  open?: true;
  toolset?: string;
  model?: string;
  agentModel?: string[];
  label?: Record<string, string>;
  allow?: string[];
  policy?: string;
  secret?: SecretUses;
  secretHeader?: SecretUses;
  validate?: string[];
  title?: string;
  priority?: 'high' | 'normal' | 'low';
  maxTurns?: number;
  maxSteps?: number;
  maxSeconds?: number;
  maxTokens?: number;
  maxCost?: number;
  maxAgents?: number;
  maxIdle?: number;
}

export function runCommand(shell: Shell): Command {
  const command = apiCommand('run', 'submit a run: a prompt for a model, a plan of tool calls, or an open run')
    .argument('[prompt]', 'what the model should do')
    .option('--plan <file>', 'a scripted plan in YAML or JSON; - reads standard input')
    .option('--open', 'no goal: the calls come later, with `calls`, until `finish`')
    .option(
      '--source <path>',
      'a git repository, a directory, or a .tar, .tar.gz or .zip file; the run works on a copy (default: empty)',
    )
    .option('--ref <ref>', 'branch, tag or commit of a git source (default: HEAD)')
    .addOption(
      new Option('--source-type <type>', 'treat the source as this type').choices(['git', 'directory', 'archive']),
    )
    .option('--include <glob>', 'copy only matching files; may be repeated (default: all)', several)
    .option('--exclude <glob>', 'leave out matching files; may be repeated', several)
    .option('--toolset <name>', 'tools that the run may call (default: holdpoint)')
    .option('--model <provider/model>', 'model for a prompt (default: HOLDPOINT_MODEL of the server)')
    .option(
      '--agent-model <provider/model>',
      'another model that sub-agents may use; may be repeated (default: only the model of the run)',
      several,
    )
    .option('--label <name=value>', 'label of the run; may be repeated', label)
    .option('--allow <host[:port]>', 'let tools reach this host; may be repeated (default: none)', several)
    .option(
      '--policy <file|name>',
      'a policy in YAML or JSON, or the name of a stored one (name@version: that version)',
    )
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
    .addOption(new Option('--priority <level>', 'jobs of a higher level run first').choices(['high', 'normal', 'low']))
    .option('--max-turns <n>', 'pause after this many model turns', count)
    .option('--max-steps <n>', 'pause after this many steps', count)
    .option('--max-seconds <n>', 'pause after this many seconds; waiting for people does not count', count)
    .option('--max-tokens <n>', 'pause after this many tokens, input and output', count)
    .option('--max-cost <usd>', "pause after this many US dollars, by the operator's prices", amount)
    .option('--max-idle <seconds>', 'end an open run that gets no calls for so long (default: a day)', count)
    .option('--max-agents <n>', 'start at most this many sub-agents', count);
  return withSubmitOptions(withGrantOptions(withSettingOptions(command))).action(
    async (prompt: string | undefined, options: RunOptions) => {
      const { body, plan } = await bodyOf(shell, prompt, options);
      const client = await shell.connect(options.url);
      const { idempotencyKey } = options;
      const submitted = await client.createRun(body, { idempotencyKey }).catch((error: unknown) => {
        throw placeInPlan(error, plan, fieldsOfFile(plan, options));
      });
      await followSubmitted({ shell, client }, submitted, options);
    },
  );
}

async function bodyOf(
  shell: Shell,
  prompt: string | undefined,
  options: RunOptions,
): Promise<{ body: CreateRun; plan?: ParsedPlan }> {
  const { title, toolset, model, label: labels, allow, validate, priority } = options;
  if ([prompt, options.plan, options.open].filter((goal) => goal !== undefined).length !== 1) {
    throw new CliError('usage', 'Give either a prompt in quotes, --plan with a file, or --open.');
  }
  if (prompt?.trim() === '') throw new CliError('usage', 'The prompt is empty.');
  if (prompt === undefined && model !== undefined)
    throw new CliError('usage', `--model belongs to a prompt, not to ${options.open ? 'an open run' : 'a plan'}.`);
  const plan =
    options.plan === undefined
      ? undefined
      : await readPlan({ cwd: shell.config.cwd, file: options.plan, readInput: shell.readInput });
  const { labels: fileLabels, limits: fileLimits, ...file }: Partial<PlanFile> = plan?.file ?? {};
  const secrets = [...(options.secret ?? []), ...(options.secretHeader ?? [])];
  // The command line overrides the file.
  const body: CreateRun = {
    ...file,
    title: title ?? file.title,
    toolset: toolset ?? file.toolset,
    settings: await settingsOf(options, { cwd: shell.config.cwd, file: file.settings }),
    model,
    prompt,
    open: options.open,
    priority: priority ?? file.priority,
    models: options.agentModel ?? file.models,
    policy: options.policy === undefined ? file.policy : await givenPolicy(options.policy, shell.config),
    network: allow === undefined ? file.network : { allow },
    ...grantsOf(options, file),
    secrets: secrets.length > 0 ? secrets : file.secrets,
    validators: validate?.map((command) => ({ command })) ?? file.validators,
    workspace: { source: await findSource(shell.config.cwd, options) },
    limits: {
      ...fileLimits,
      max_turns: options.maxTurns ?? fileLimits?.max_turns,
      max_steps: options.maxSteps ?? fileLimits?.max_steps,
      wall_s: options.maxSeconds ?? fileLimits?.wall_s,
      max_tokens: options.maxTokens ?? fileLimits?.max_tokens,
      max_cost_usd: options.maxCost ?? fileLimits?.max_cost_usd,
      idle_s: options.maxIdle ?? fileLimits?.idle_s,
      max_agents: options.maxAgents ?? fileLimits?.max_agents,
    },
    labels: { ...fileLabels, ...labels },
  };
  return { body, plan };
}

/** A mistake in what an option has overridden is no mistake in the file. */
function fieldsOfFile(plan: ParsedPlan | undefined, options: RunOptions): string[] {
  const { allow, validate, toolset, title, policy } = options;
  const overridden = {
    policy,
    network: allow,
    secrets: options.secret ?? options.secretHeader,
    validators: validate,
    toolset,
    settings: options.settings ?? options.set,
    title,
    ...overriddenGrants(options),
  };
  return ['plan', 'labels', ...Object.keys(plan?.file ?? {})].filter(
    (field) => !Object.entries(overridden).some(([name, value]) => name === field && value !== undefined),
  );
}

function amount(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError('Expected an amount above 0.');
}
