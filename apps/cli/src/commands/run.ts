import type { CreateRun } from '@holdpoint/contract/wire';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { defined } from '../defined.ts';
import { CliError } from '../errors.ts';
import { findSource, type SourceOptions } from '../plan/find-source.ts';
import type { ParsedPlan } from '../plan/parse-plan.ts';
import { placeInPlan } from '../plan/place-error.ts';
import { readPlan } from '../plan/read-plan.ts';
import type { Shell } from '../shell.ts';
import { followSubmitted, type SubmitOptions, withSubmitOptions } from './follow-submitted.ts';
import { type ApiOptions, apiCommand, label, several } from './options.ts';

interface RunOptions extends ApiOptions, SubmitOptions, SourceOptions {
  plan?: string;
  toolset?: string;
  model?: string;
  agentModel?: string[];
  label?: Record<string, string>;
  allow?: string[];
  validate?: string[];
  title?: string;
  priority?: 'high' | 'normal' | 'low';
  maxTurns?: number;
  maxSteps?: number;
  maxSeconds?: number;
  maxTokens?: number;
  maxCost?: number;
  maxAgents?: number;
}

export function runCommand(shell: Shell): Command {
  const command = apiCommand('run', 'submit a task for a model, or a plan of tool calls')
    .argument('[task]', 'what a model is to do')
    .option('--plan <file>', 'a scripted plan in YAML or JSON; - reads standard input')
    .option(
      '--source <path>',
      'what the run works on a copy of: a git repository, a directory, or a .tar, .tar.gz or .zip file (default: nothing)',
    )
    .option('--ref <ref>', 'branch, tag or commit of a git source (default: HEAD)')
    .addOption(new Option('--source-type <type>', 'use the source as this').choices(['git', 'directory', 'archive']))
    .option('--include <glob>', 'only such files of the source; may be given several times (default: all)', several)
    .option('--exclude <glob>', 'no such files of the source; may be given several times', several)
    .option('--toolset <name>', 'tools it may call (default: holdpoint)')
    .option('--model <provider/model>', 'for a task (default: HOLDPOINT_MODEL of the server)')
    .option(
      '--agent-model <provider/model>',
      'sub-agents may ask it, too; may be given several times (default: only the model of the run)',
      several,
    )
    .option('--label <name=value>', 'may be given several times', label)
    .option(
      '--allow <host[:port]>',
      'let its tools reach this host; may be given several times (default: none)',
      several,
    )
    .option(
      '--validate <command>',
      'must succeed before a publish; may be given several times (default: none)',
      several,
    )
    .option('--title <text>', 'for lists')
    .addOption(new Option('--priority <level>', 'whose jobs go first').choices(['high', 'normal', 'low']))
    .option('--max-turns <n>', 'pause after so many turns of a model', count)
    .option('--max-steps <n>', 'pause after so many steps', count)
    .option('--max-seconds <n>', 'pause after so many seconds of running; waiting for people does not count', count)
    .option('--max-tokens <n>', 'pause after so many tokens, in and out', count)
    .option('--max-cost <usd>', 'pause after so many US dollars, by the prices that the operator has set', amount)
    .option('--max-agents <n>', 'so many sub-agents in all', count);
  return withSubmitOptions(command).action(async (task: string | undefined, options: RunOptions) => {
    const { body, plan } = await bodyOf(shell, task, options);
    const client = await shell.connect(options.url);
    const { idempotencyKey } = options;
    const submitted = await client.createRun(body, { idempotencyKey }).catch((error: unknown) => {
      throw placeInPlan(error, plan, fieldsOfFile(plan, options));
    });
    await followSubmitted({ shell, client }, submitted, options);
  });
}

async function bodyOf(
  shell: Shell,
  prompt: string | undefined,
  options: RunOptions,
): Promise<{ body: CreateRun; plan?: ParsedPlan }> {
  const { title, toolset, model, label: labels, allow, validate, priority } = options;
  if ((prompt === undefined) === (options.plan === undefined)) {
    throw new CliError('usage', 'Give either a task in quotes or --plan with a file.');
  }
  if (prompt?.trim() === '') throw new CliError('usage', 'The task is empty.');
  if (options.plan !== undefined && model !== undefined)
    throw new CliError('usage', '--model belongs to a task, not to a plan.');
  const plan =
    options.plan === undefined
      ? undefined
      : await readPlan({ cwd: shell.config.cwd, file: options.plan, readInput: shell.readInput });
  const given = {
    title,
    toolset,
    model,
    prompt,
    priority,
    models: options.agentModel,
    network: allow && { allow },
    validators: validate?.map((command) => ({ command })),
    workspace: { source: await findSource(shell.config.cwd, options) },
  };
  const { labels: ofFile = {}, ...file } = plan?.file ?? {};
  const bounds = defined({
    max_turns: options.maxTurns,
    max_steps: options.maxSteps,
    wall_s: options.maxSeconds,
    max_tokens: options.maxTokens,
    max_cost_usd: options.maxCost,
    max_agents: options.maxAgents,
  });
  const ofPlan = 'limits' in file ? file.limits : {};
  const limits = Object.keys(bounds).length === 0 ? {} : { limits: { ...ofPlan, ...bounds } };
  // What is said on the command line comes before what the file says.
  const body: CreateRun = { ...file, ...defined(given), ...limits, labels: { ...ofFile, ...labels } };
  return plan === undefined ? { body } : { body, plan };
}

/** --allow came in place of the file's network: then it is not the file that is wrong. */
function fieldsOfFile(plan: ParsedPlan | undefined, { allow, validate, toolset, title }: RunOptions): string[] {
  const instead = Object.keys(defined({ network: allow, validators: validate, toolset, title }));
  return ['plan', 'labels', ...Object.keys(plan?.file ?? {})].filter((field) => !instead.includes(field));
}

function count(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new InvalidArgumentError('expected a whole number from 1 on.');
}

function amount(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError('expected an amount of more than 0.');
}
