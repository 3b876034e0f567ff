import type { CreateRun } from '@holdpoint/contract/wire';
import { findSource, type ParsedPlan, type PlanFile, readPlan, type SourceOptions } from '../../plan/index.ts';
import { type ApiOptions, CliError, type Shell } from '../../shell/index.ts';
import { kindsOf } from './agent-kinds.ts';
import { type GoalOptions, goalOf, promptOf } from './goal-options.ts';
import { type GrantOptions, grantsOf, overriddenGrants } from './grant-options.ts';
import { type LimitOptions, limitsOf } from './limit-options.ts';
import { type PolicyOptions, policyOf } from './policy-options.ts';
import { type SettingOptions, settingsOf } from './setting-options.ts';

type SecretUses = NonNullable<CreateRun['secrets']>;

export interface BodyOptions
  extends ApiOptions,
    SourceOptions,
    GoalOptions,
    PolicyOptions,
    LimitOptions,
    GrantOptions,
    SettingOptions {
  plan?: string;
  open?: true;
  toolset?: string;
  agentModel?: string[];
  agentKind?: string[];
  label?: Record<string, string>;
  allowNet?: string[];
  prepare?: string[];
  prepareAllow?: string[];
  secret?: SecretUses;
  secretHeader?: SecretUses;
  validate?: string[];
  title?: string;
  priority?: 'high' | 'normal' | 'low';
}

/** The request for a run. The command line overrides the file of a plan. @throws CliError `usage`, `bad_plan`, … */
export async function bodyOf(
  shell: Shell,
  argument: string | undefined,
  options: BodyOptions,
): Promise<{ body: CreateRun; plan?: ParsedPlan | undefined }> {
  const { cwd } = shell.config;
  const plan = await goalFileOf(shell, argument, options);
  const prompt = await promptOf(shell, argument, options);
  const { labels, limits, ...file }: Partial<PlanFile> = plan?.file ?? {};
  const { title, toolset, allowNet, validate, priority } = options;
  const goal = await goalOf(shell, prompt ?? file.prompt, options);
  refuseWithoutPrompt(goal, options);
  const secrets = [...(options.secret ?? []), ...(options.secretHeader ?? [])];
  const body: CreateRun = {
    ...file,
    ...withoutAbsent(goal),
    title: title ?? file.title,
    toolset: toolset ?? file.toolset,
    settings: await settingsOf(options, { cwd, file: file.settings }),
    open: options.open,
    priority: priority ?? file.priority,
    models: options.agentModel ?? file.models,
    agents: (await kindsOf(cwd, options.agentKind)) ?? file.agents,
    policy: await policyOf(shell, options, { file: file.policy, toolset: toolset ?? file.toolset }),
    network: allowNet === undefined ? file.network : { allow: allowNet },
    prepare: prepareOf(options) ?? file.prepare,
    ...grantsOf(options, file),
    secrets: secrets.length > 0 ? secrets : file.secrets,
    validators: validate?.map((command) => ({ command })) ?? file.validators,
    workspace: { source: await findSource(cwd, options) },
    limits: limitsOf(options, limits),
    labels: { ...labels, ...options.label },
  };
  return { body, plan };
}

/** The file of --plan. @throws CliError `usage` without a goal, or with several; `bad_plan` */
async function goalFileOf(
  shell: Shell,
  argument: string | undefined,
  { promptFile, plan, open }: BodyOptions,
): Promise<ParsedPlan | undefined> {
  const isPrompt = argument !== undefined || promptFile !== undefined;
  if ([isPrompt, plan !== undefined, open === true].filter(Boolean).length !== 1) {
    throw new CliError('usage', 'Give either a prompt in quotes, --plan with a file, or --open.');
  }
  return plan === undefined ? undefined : readPlan({ cwd: shell.config.cwd, file: plan, readInput: shell.readInput });
}

function refuseWithoutPrompt(goal: Awaited<ReturnType<typeof goalOf>>, { open }: BodyOptions): void {
  if (goal.prompt !== undefined) return;
  const [given] = Object.entries(goal).find(([, value]) => value !== undefined) ?? [];
  if (given === undefined) return;
  const option = optionNames[given] ?? given;
  throw new CliError('usage', `--${option} belongs to a prompt, not to ${open ? 'an open run' : 'a plan'}.`);
}

const optionNames: Record<string, string> = {
  fallbacks: 'fallback',
  images: 'image',
  instructions: 'no-instructions',
  output_schema: 'output-schema',
  options: 'effort, --temperature or --max-output-tokens',
};

function prepareOf({ prepare, prepareAllow }: BodyOptions): CreateRun['prepare'] {
  if (prepare !== undefined) {
    return { commands: prepare.map((command) => ({ command })), network: { allow: prepareAllow ?? [] } };
  }
  if (prepareAllow === undefined) return undefined;
  throw new CliError('usage', '--prepare-allow needs --prepare.');
}

const withoutAbsent = <Fields extends object>(fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields;

/** The fields of a request from the file: a mistake in a field overridden by an option is no mistake in the file. */
export function fieldsOfFile(plan: ParsedPlan | undefined, options: BodyOptions): string[] {
  const { allowNet, validate, toolset, title, policy, hold, deny, prepare } = options;
  const overridden = {
    policy: policy ?? hold ?? deny,
    network: allowNet,
    prepare,
    secrets: options.secret ?? options.secretHeader,
    validators: validate,
    toolset,
    settings: options.settings ?? options.set,
    title,
    agents: options.agentKind,
    model: options.model,
    fallbacks: options.fallback,
    system: options.system ?? options.systemFile,
    ...overriddenGrants(options),
  };
  return ['plan', 'labels', ...Object.keys(plan?.file ?? {})].filter(
    (field) => !Object.entries(overridden).some(([name, value]) => name === field && value !== undefined),
  );
}
