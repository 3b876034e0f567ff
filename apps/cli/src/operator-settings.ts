import { statSync } from 'node:fs';
import { callerLimitsFrom } from '@holdpoint/callers';
import type { OperatorPolicy } from '@holdpoint/contract';
import { type Ceilings, ceilingsFrom, policyFileFrom, readPolicyFile } from '@holdpoint/engine';
import { describeModelProblem, modelSettingsFrom } from '@holdpoint/models';
import { operatorKindsFrom, operatorTextFrom, resultBytesFrom } from '@holdpoint/runtime/operator';
import type { LoadedModule } from '@holdpoint/tools';
import { rootsFrom } from '@holdpoint/workspace/roots';
import { openCatalog, toolsOf } from './policy/catalog-tools.ts';
import { CliError } from './shell/index.ts';

/** The operator's bounds on every run, read from an environment. */
export interface OperatorSettings {
  /** Undefined without a policy in a file; the store may. */
  policy: OperatorPolicy | undefined;
  sourceRoots: readonly string[];
  publishRoots: readonly string[];
  gitHosts: readonly string[];
  ceilings: Ceilings;
  /** The additions of the modules in HOLDPOINT_TOOLS. */
  modules: LoadedModule[];
}

/** The API and the workers check the same when they start. @throws CliError `bad_environment` with the variable */
export async function readOperatorSettings(env: Readonly<Record<string, string>>): Promise<OperatorSettings> {
  try {
    callerLimitsFrom(env);
    refuseBadModel(env);
    operatorTextFrom(env);
    resultBytesFrom(env);
    operatorKindsFrom(env);
    const { sourceRoots = [], publishRoots = [], gitHosts = [] } = rootsFrom(env);
    const file = policyFileFrom(env);
    const { registry, modules } = await openCatalog(env);
    const policy = file === undefined ? undefined : readPolicyFile(file, toolsOf(registry));
    return { policy, ceilings: ceilingsFrom(env), sourceRoots, publishRoots, gitHosts, modules };
  } catch (cause) {
    throw new CliError('bad_environment', cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** A name impossible for every provider is a mistake; a missing key may belong to another machine. @throws Error */
function refuseBadModel(env: Readonly<Record<string, string>>): void {
  const { defaultModel } = modelSettingsFrom(env);
  if (defaultModel === undefined) return;
  const problem = describeModelProblem(defaultModel, {});
  if (problem?.code === 'EMODELNAME') throw new Error(`HOLDPOINT_MODEL: ${problem.message} ${problem.next}`);
}

/** Roots where no directory exists: no source can lie below them. */
export function missingRoots({ sourceRoots, publishRoots }: OperatorSettings): string[] {
  const isMissing = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true;
  return [...new Set([...sourceRoots, ...publishRoots])].filter(isMissing);
}
