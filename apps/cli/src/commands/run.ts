import { ApiError } from '@holdpoint/client/errors';
import type { CreateRun } from '@holdpoint/client/wire/run';
import { type Command, Option } from 'commander';
import { commandLine } from '../command-name.ts';
import { CliError } from '../errors.ts';
import { exitCodeOf, followRun, nextSteps } from '../follow-run.ts';
import { findSource, type SourceOptions } from '../plan/find-source.ts';
import type { ParsedPlan } from '../plan/parse-plan.ts';
import { readPlan } from '../plan/read-plan.ts';
import type { Shell } from '../shell.ts';
import { type ApiOptions, apiCommand, type FollowOptions, label, rule, withFollowOptions } from './options.ts';

interface RunOptions extends ApiOptions, FollowOptions, SourceOptions {
  plan?: string;
  toolset?: string;
  model?: string;
  label?: Record<string, string>;
  allow?: string[];
  title?: string;
  follow?: true;
  detach?: true;
  idempotencyKey?: string;
}

export function runCommand(shell: Shell): Command {
  const command = apiCommand('run', 'submit a task for a model, or a plan of tool calls')
    .argument('[task]', 'what a model is to do')
    .option('--plan <file>', 'a scripted plan in YAML or JSON; - reads standard input')
    .option(
      '--source <directory>',
      'what the run works on a copy of: a git repository or a directory (default: nothing)',
    )
    .option('--ref <ref>', 'branch, tag or commit of a git source (default: HEAD)')
    .addOption(new Option('--source-type <type>', 'use the source as this').choices(['git', 'directory']))
    .option('--toolset <name>', 'tools it may call (default: holdpoint)')
    .option('--model <provider/model>', 'for a task (default: HOLDPOINT_MODEL of the server)')
    .option('--label <name=value>', 'may be given several times', label)
    .option('--allow <host[:port]>', 'let its tools reach this host; may be given several times (default: none)', rule)
    .option('--title <text>', 'for lists')
    .addOption(new Option('--follow', 'print its events until it ends (default on a terminal)').conflicts('detach'))
    .option('--detach', 'print its id and return (default otherwise)')
    .option('--idempotency-key <key>', 'the same key and request again is the same run, for 24 hours');
  return withFollowOptions(command).action(async (task: string | undefined, options: RunOptions) => {
    await submit(shell, task, options);
  });
}

async function submit(shell: Shell, task: string | undefined, options: RunOptions): Promise<void> {
  const { json = false } = options;
  const { body, plan } = await bodyOf(shell, task, options);
  const client = await shell.connect(options.url);
  const { run, created } = await client
    .createRun(body, { idempotencyKey: options.idempotencyKey })
    .catch((error: unknown) => {
      throw placed(error, plan, options);
    });
  if (!created) shell.say(`${run.id} was submitted before with this key.`);
  const follow = options.follow ?? (options.detach === undefined && shell.interactive);
  if (!follow) {
    if (json) return shell.printJson(run);
    shell.print(run.id);
    return shell.say(`follow:   ${commandLine('watch', run.id)}`);
  }
  const { workers } = await client.ready();
  if (workers === 0) shell.say('No worker is running: the run waits until there is one (npm start).');
  const input = { runId: run.id, json, stopWhenWaiting: !options.wait, timeoutMs: options.timeout };
  const ended = await followRun({ shell, client }, input);
  for (const line of nextSteps(ended)) shell.say(line);
  shell.exitCode = exitCodeOf(ended);
}

async function bodyOf(
  shell: Shell,
  prompt: string | undefined,
  options: RunOptions,
): Promise<{ body: CreateRun; plan?: ParsedPlan }> {
  const { title, toolset, model, label: labels } = options;
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
  const network = options.allow && { allow: options.allow };
  const given = {
    title,
    toolset,
    model,
    prompt,
    network,
    workspace: { source: await findSource(shell.config.cwd, options) },
  };
  const { labels: ofFile = {}, ...file } = plan?.file ?? {};
  // What is said on the command line comes before what the file says.
  const body: CreateRun = { ...file, ...defined(given), labels: { ...ofFile, ...labels } };
  return plan === undefined ? { body } : { body, plan };
}

function defined<Values extends object>(values: Values): { [Name in keyof Values]: Exclude<Values[Name], undefined> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Name in keyof Values]: Exclude<Values[Name], undefined> };
}

/** What the server finds wrong with a plan is shown where it stands in the file. */
function placed(error: unknown, plan: ParsedPlan | undefined, options: RunOptions): unknown {
  if (!(error instanceof ApiError) || plan === undefined || error.errors.length === 0) return error;
  if (error.status !== 400 && error.status !== 422) return error;
  // --allow came in place of the file's network: it is not the file that is wrong.
  if (options.allow && error.code === 'invalid_network') return error;
  const lines = error.errors.map(({ pointer, detail }) => {
    const path = pointer.split('/').slice(1).map(unescapePointer);
    const inFile = path[0] === 'plan' ? path.slice(1) : path;
    return `${plan.place(inFile)}: ${inFile.join('.')}: ${detail}`;
  });
  return new CliError('bad_plan', lines.join('\n'), { cause: error });
}

function unescapePointer(part: string): string | number {
  const text = part.replaceAll('~1', '/').replaceAll('~0', '~');
  return /^\d+$/.test(text) ? Number(text) : text;
}
