import type { ApiBounds, Bounds, Worker } from '@holdpoint/contract/wire';
import { policyDigest } from '@holdpoint/policy';
import { missingRoots, type OperatorSettings, readOperatorSettings } from '../operator-settings.ts';
import { boundsText, ceilingsText, nameText } from '../output/index.ts';
import { CliError, type Config } from '../shell/index.ts';
import type { Finding } from './finding.ts';

const boundVariables = [
  'HOLDPOINT_POLICY',
  'HOLDPOINT_SOURCE_ROOTS',
  'HOLDPOINT_GIT_HOSTS',
  'HOLDPOINT_PUBLISH_ROOTS',
  'HOLDPOINT_TOOLS',
] as const;
const limitVariables = ['HOLDPOINT_LIMITS'] as const;

interface Programs {
  /** Undefined when the API does not run or does not answer. */
  api: ApiBounds | undefined;
  workers: readonly Pick<Worker, 'id' | 'bounds' | 'ceilings'>[];
}

/** Compares the operator's bounds in this environment with the bounds of the running programs. */
export async function checkBounds(
  { environment }: Pick<Config, 'environment'>,
  { api, workers }: Programs,
): Promise<Finding[]> {
  let here: OperatorSettings;
  try {
    here = await readOperatorSettings(environment);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return [
      {
        ...{ name: 'bounds', level: 'fail', text: error.message },
        next: 'Correct it: no program starts with this setting.',
      },
    ];
  }
  const isSet = (variables: readonly string[]): boolean => variables.some((name) => environment[name] !== undefined);
  const all = [...(api ? [{ who: 'the API', bounds: api, ceilings: api.ceilings }] : []), ...workers.map(named)];
  const finding = (name: string, variables: readonly string[], programs: Started[], text: string): Finding =>
    programs.length === 0
      ? { name, level: 'ok', text }
      : comparePrograms({ name, variables, programs, here: isSet(variables) ? text : undefined });
  const bounds = all.flatMap((one) => (one.bounds ? [{ who: one.who, text: boundsText(one.bounds) }] : []));
  const ceilings = all.map((one) => ({ who: one.who, text: ceilingsText(one.ceilings) }));
  return [
    finding('limits', limitVariables, ceilings, ceilingsText(here.ceilings)),
    finding('bounds', boundVariables, bounds, boundsText(wireBounds(here, all.find((one) => one.bounds)?.bounds))),
    ...all.flatMap(policyProblem),
    ...missingRoots(here).map(
      (path): Finding => ({
        ...{ name: 'bounds', level: 'warn', text: `${nameText(path)} is a root, but no such directory exists` },
        next: 'Create it, or correct HOLDPOINT_SOURCE_ROOTS and HOLDPOINT_PUBLISH_ROOTS: all other directories are closed.',
      }),
    ),
  ];
}

const named = ({ id, bounds, ceilings }: Programs['workers'][number]) => ({ who: `worker ${id}`, bounds, ceilings });

/** @param other of a running program: without a file the store has the policy, unknown to this shell */
const wireBounds = (
  { policy, sourceRoots, publishRoots, gitHosts, modules }: OperatorSettings,
  other: Bounds | undefined,
): Bounds => ({
  policy: policy === undefined ? (other?.policy ?? null) : policyDigest(policy),
  policy_version: policy === undefined ? other?.policy_version : undefined,
  source_roots: [...sourceRoots],
  publish_roots: [...publishRoots],
  git_hosts: [...gitHosts],
  tool_modules: modules,
});

/** An unusable source of the policy does not change the policy in force, so the operator must see the problem. */
function policyProblem({ who, bounds }: { who: string; bounds?: Bounds | undefined }): Finding[] {
  const { policy_problem: problem, policy } = bounds ?? {};
  if (problem === null || problem === undefined) return [];
  const inForce = policy == null ? 'none is in force' : `${policy.slice(0, 19)} stays in force`;
  return [
    {
      ...{ name: 'policy', level: 'fail', text: `${who}: ${inForce}, because ${problem}` },
      next: 'Correct it: the program follows within a second or two. Started again as it is, it would refuse.',
    },
  ];
}

/** A running program and its settings at the start. */
interface Started {
  who: string;
  text: string;
}

/**
 * Compares a setting of all programs, and of this shell when the shell sets the variables.
 *
 * @param input.here the setting of this shell; undefined without any of the variables
 */
function comparePrograms(input: {
  name: string;
  variables: readonly string[];
  programs: readonly Started[];
  here: string | undefined;
}): Finding {
  const { name, programs, here } = input;
  const variables = input.variables.join(', ');
  const settings = [...new Set(programs.map(({ text }) => text))];
  const [first = ''] = settings;
  if (settings.length > 1) {
    const text = programs.map((one) => `${one.who}: ${one.text}`).join('\n');
    return {
      name,
      level: 'warn',
      text,
      next: `Start the API and all workers with the same ${variables}. A change of the operator's policy takes seconds to reach them.`,
    };
  }
  if (here === undefined || here === first) return { name, level: 'ok', text: first };
  return {
    ...{ name, level: 'warn', text: `the running programs have: ${first}\nthis shell has: ${here}` },
    next: `Start it again from this shell, or unset ${variables} here.`,
  };
}
