import { ApiError } from '@holdpoint/client';
import * as contract from '@holdpoint/contract';
import { z } from 'zod';
import { CliError, type Shell } from '../shell/index.ts';
import { mistakeText } from '../words-for-people.ts';
import { parseYaml, readFileOrInput, type YamlFile } from './yaml-file.ts';

/** A plan file: groups of steps or a prompt, and settings of the run. */
const headSchema = z.strictObject({
  title: z.string().min(1).max(200).optional(),
  toolset: z.string().min(1).max(64).optional(),
  settings: contract.settingsSchema.optional(),
  policy: contract.givenPolicySchema.optional(),
  limits: contract.givenLimitsSchema.optional(),
  models: contract.modelsSchema.optional(),
  agents: contract.givenKindsSchema.optional(),
  priority: contract.prioritySchema.optional(),
  network: contract.networkSchema.optional(),
  ...contract.narrowedShape,
  secrets: contract.secretUsesSchema.optional(),
  validators: contract.validatorsSchema.optional(),
  publish: contract.publishDefaultsSchema.optional(),
  prepare: contract.prepareSchema.optional(),
  labels: z.record(z.string().min(1).max(63), z.string().max(255)).optional(),
  groups: z.unknown().optional(),
  prompt: z.string().min(1).max(200_000).optional(),
  model: z.string().min(1).max(200).optional(),
  ...contract.modelGoalShape,
});

/** A mistake in a policy is reported for the most likely shape. */
const headFor = (value: object): typeof headSchema => {
  const policy: unknown = 'policy' in value ? value.policy : undefined;
  const isReference = typeof policy === 'object' && policy !== null && 'name' in policy;
  const meant = isReference ? contract.policyReferenceSchema : contract.policySchema;
  return headSchema.extend({ policy: meant.optional() }) as unknown as typeof headSchema;
};

export type PlanFile = Omit<z.infer<typeof headSchema>, 'groups'> & { plan?: contract.Plan };

interface PlanMistake {
  path: PropertyKey[];
  /** The key is wrong, not its value. */
  key?: string;
  message: string;
}

/** Checks everything possible without a server, and returns every mistake. */
function checkPlanFile(value: unknown): { ok: true; file: PlanFile } | { ok: false; mistakes: PlanMistake[] } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { ok: false, mistakes: [{ path: [], message: 'a plan is a mapping with groups' }] };
  }
  const head = headFor(value).safeParse(value);
  const plan = goalIn(value);
  const mistakes = [...mistakesOf(head.error), ...plan.mistakes];
  if (!head.success || mistakes.length > 0) return { ok: false, mistakes };
  const { groups: _, ...rest } = head.data;
  return { ok: true, file: plan.plan === undefined ? rest : { ...rest, plan: plan.plan } };
}

/** A file has groups of steps or a prompt. */
function goalIn(value: object): { plan?: contract.Plan; mistakes: PlanMistake[] } {
  const groups: unknown = 'groups' in value ? value.groups : undefined;
  if ('prompt' in value) {
    return { mistakes: groups === undefined ? [] : [{ path: ['groups'], message: 'give either groups or a prompt' }] };
  }
  if (groups === undefined)
    return { mistakes: [{ path: [], message: 'groups: a plan has groups of steps, or a prompt' }] };
  const { data, error } = contract.planSchema.safeParse({ groups });
  const misplaced = ofPrompts.filter((name) => name in value);
  return {
    ...(data === undefined ? {} : { plan: data }),
    mistakes: [
      ...mistakesOf(error),
      ...misplaced.map((name) => ({ path: [name], message: `${name} belongs to a prompt, and this plan has groups` })),
    ],
  };
}

const ofPrompts = ['model', ...Object.keys(contract.modelGoalShape)];

const mistakesOf = (error: z.ZodError | undefined): PlanMistake[] =>
  (error?.issues ?? []).flatMap((issue): PlanMistake[] => {
    const { path } = issue;
    if (issue.code !== 'unrecognized_keys') return [{ path, message: mistakeText(issue.message) }];
    return issue.keys.map((key) => ({ path, key, message: `${key} is not known here` }));
  });

/** @param file a path relative to the caller's directory, or `-` for standard input. @throws CliError `bad_plan` with the place of every mistake */
export async function readPlan(shell: Pick<Shell, 'config' | 'readInput'>, file: string): Promise<ParsedPlan> {
  const next = 'Give the path of a plan; examples/ has some.';
  const { text, name } = await readFileOrInput(shell, file, { code: 'bad_plan', next });
  return parsePlan(text, name);
}

export interface ParsedPlan extends Pick<YamlFile, 'place'> {
  file: PlanFile;
}

/** @param name of the file, for messages. @throws CliError `bad_plan` */
export function parsePlan(text: string, name: string): ParsedPlan {
  const { value, place } = parseYaml(text, name, badPlan);
  const checked = checkPlanFile(value);
  if (!checked.ok)
    throw badPlan(checked.mistakes.map((mistake) => `${place(mistake.path, mistake.key)}: ${describe(mistake)}`));
  return { file: checked.file, place };
}

const badPlan = (lines: string[]): CliError => new CliError('bad_plan', lines.join('\n'));

function describe({ path, key, message }: PlanMistake): string {
  const where = [...path, ...(key === undefined ? [] : [key])].map(String).join('.');
  return where === '' ? message : `${where}: ${message}`;
}

/**
 * Adds the place in the file to the server's mistakes of a plan.
 *
 * @param fromFile fields of the request from the file; an error in any other field is returned unchanged
 */
export function placeInPlan(error: unknown, plan: ParsedPlan | undefined, fromFile: readonly string[]): unknown {
  if (!(error instanceof ApiError) || plan === undefined || error.errors.length === 0) return error;
  if (error.status !== 400 && error.status !== 422) return error;
  const places = error.errors.map(({ pointer, detail }) => ({ path: contract.fromPointer(pointer), detail }));
  if (places.some(({ path: [field] }) => field !== undefined && !fromFile.includes(field))) return error;
  const lines = places.map(({ path, detail }) => {
    const inFile = path[0] === 'plan' ? path.slice(1) : path;
    return `${plan.place(inFile)}: ${inFile.join('.')}: ${mistakeText(detail)}`;
  });
  return new CliError('bad_plan', lines.join('\n'), { cause: error });
}
