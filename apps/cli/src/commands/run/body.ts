import { fromPointer } from '@holdpoint/contract';
import { type CreateRun, createRunSchema } from '@holdpoint/contract/wire';
import { schemaProblems } from '@holdpoint/policy';
import { findSource } from '../../plan/find-source.ts';
import { type ParsedPlan, readPlan } from '../../plan/plan-file.ts';
import { type RunFile, readRunFile } from '../../plan/yaml-file.ts';
import { givenPolicy } from '../../policy/catalog-tools.ts';
import { type Setting, setFields } from '../../request/set-fields.ts';
import { type ApiOptions, CliError, type Shell } from '../../shell/index.ts';
import { mistakeText } from '../../words-for-people.ts';
import { type Given, nameOf } from './name-options.ts';
import { type PolicyOptions, stricter } from './policy-options.ts';

export interface BodyOptions extends ApiOptions, PolicyOptions {
  file?: string;
  set?: Setting[];
  /** `true`: without a file. */
  plan?: string | true;
  open?: true;
  source?: string;
  ref?: string;
  model?: string;
  agent?: string;
  toolset?: string;
  allowNet?: string[];
  validate?: string[];
  dryRun?: true;
  title?: string;
  label?: Record<string, string>;
}

export interface Request {
  body: CreateRun;
  plan: ParsedPlan | undefined;
  given: Given;
}

/**
 * The request for a run: `--set` overrides the options, which override the file of a plan, which overrides the run file. `--hold` and
 * `--deny` make the policy stricter in the end.
 *
 * @throws CliError `usage`, `bad_plan`, …
 */
export async function requestOf(shell: Shell, argument: string | undefined, options: BodyOptions): Promise<Request> {
  const { set: settings = [], model, open } = options;
  // `--plan` without a file is plan mode.
  const script = options.plan === true ? undefined : options.plan;
  const isInput = [argument, script, options.file].filter((from) => from === '-').length;
  if (isInput > 1) throw new CliError('usage', 'Only one of the prompt, --plan and --file can read standard input.');
  if ([argument, script, open].filter((goal) => goal !== undefined).length > 1) throw severalGoals();
  const file = options.file === undefined ? undefined : await readRunFile(shell, options.file);
  const plan = script === undefined ? undefined : await readPlan(shell, script);
  const prompt = await promptOf(shell, argument);
  const base = {
    ...withoutGoal(file?.file, { isGiven: plan !== undefined || (prompt ?? open) !== undefined }),
    ...plan?.file,
  };
  const fields = asSent(await fieldsOf(shell, { prompt, file: base }, options));
  const merged = await setFields<CreateRun>({ ...base, ...fields }, settings, shell.config.cwd);
  const goals = (['prompt', 'plan', 'open'] as const).filter((goal) => merged[goal] !== undefined);
  if (goals.length !== 1) throw severalGoals();
  if (model !== undefined && merged.prompt === undefined) {
    throw new CliError('usage', `--model belongs to a prompt, not to ${open ? 'an open run' : 'a plan'}.`);
  }
  if (options.agent !== undefined && merged.prompt === undefined) {
    throw new CliError('usage', `--agent belongs to a prompt, not to ${open ? 'an open run' : 'a plan'}.`);
  }
  const notGiven = (of: object = {}) => Object.keys(of).filter((name) => name === 'labels' || !(name in fields));
  const fromPlan = notGiven(plan?.file);
  const fromFile = notGiven(file?.file).filter((name) => !fromPlan.includes(name));
  const given = { settings, fromPlan, fromFile, file };
  refuseWithoutSource(merged, settings);
  if (file !== undefined || settings.length > 0) check(merged, given);
  return { body: { ...merged, policy: await stricter(shell, merged, options) }, plan, given };
}

const severalGoals = (): CliError =>
  new CliError(
    'usage',
    'Give either a prompt in quotes, --plan with a file, or --open. Plan mode: the prompt, then --plan.',
  );

/** `-` is standard input. @throws CliError `usage` */
async function promptOf(shell: Shell, argument: string | undefined): Promise<string | undefined> {
  const text = argument === '-' ? (await shell.readInput()).trimEnd() : argument;
  if (text?.trim() === '') throw new CliError('usage', 'The prompt is empty.');
  return text;
}

/** A goal on the command line takes the place of the goal in the run file. */
function withoutGoal(file: RunFile['file'] = {}, { isGiven }: { isGiven: boolean }): RunFile['file'] {
  if (!isGiven) return file;
  const { prompt: _prompt, plan: _plan, open: _open, ...rest } = file;
  return rest;
}

/** The fields with an option. An absent option is undefined. */
async function fieldsOf(
  shell: Shell,
  { prompt, file }: { prompt: string | undefined; file: RunFile['file'] },
  options: BodyOptions,
): Promise<Partial<CreateRun>> {
  const { open, title, toolset, model, agent, policy, allowNet, validate, dryRun, label } = options;
  const planFirst = options.plan === true;
  return {
    ...{ prompt, open, title, toolset, model, outside_agent: agent },
    policy: policy === undefined ? undefined : await givenPolicy(policy, shell.config),
    network: allowNet && { allow: allowNet },
    validators: validate?.map((command) => ({ command })),
    modes:
      dryRun || planFirst
        ? { ...file.modes, ...(dryRun && { dry_run: true }), ...(planFirst && { plan: true }) }
        : undefined,
    labels: label && { ...file.labels, ...label },
    workspace: await workspaceOf(shell, file, options),
  };
}

/** A ref without a source belongs to the source of the run file. */
async function workspaceOf(
  { config: { cwd } }: Shell,
  { workspace }: RunFile['file'],
  { source, ref }: BodyOptions,
): Promise<CreateRun['workspace']> {
  if (source !== undefined || workspace === undefined) return { source: await findSource(cwd, { source, ref }) };
  if (ref === undefined) return undefined;
  const of = workspace.source;
  return { source: of.type === 'git' ? { ...of, ref } : await findSource(cwd, { ref }) };
}

function refuseWithoutSource({ workspace }: CreateRun, settings: readonly Setting[]): void {
  const of = settings.find(({ path }) => path[0] === 'workspace');
  if (of === undefined || workspace?.source.type !== 'empty') return;
  throw new CliError('usage', `--set ${of.path.join('.')} needs --source.`, { next: 'Nothing was submitted.' });
}

/** On the wire an absent field is no key. */
const asSent = <Fields extends object>(fields: Fields): Fields => JSON.parse(JSON.stringify(fields));

/** @throws CliError `usage` that names the option, the setting, or the line of the run file */
function check(body: CreateRun, given: Given): void {
  const { error } = createRunSchema.safeParse(body);
  if (error === undefined) return;
  const problems = schemaProblems(createRunSchema, error.issues, body);
  const lines = problems.map(({ pointer, detail }) => {
    const name = nameOf(pointer, given);
    return `${name === pointer ? fromPointer(pointer).join('.') : name}: ${mistakeText(detail)}`;
  });
  throw new CliError('usage', lines.join('\n'), { next: 'Nothing was submitted.' });
}
