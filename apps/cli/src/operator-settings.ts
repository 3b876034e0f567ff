import { statSync } from 'node:fs';
import { callerLimitsFrom } from '@holdpoint/callers';
import type { OperatorPolicy } from '@holdpoint/contract';
import { type Ceilings, ceilingsFrom, policyFileFrom, readPolicyFile } from '@holdpoint/engine';
import { rootsFrom } from '@holdpoint/workspace/roots';
import { catalogTools } from './policy/catalog-tools.ts';
import { CliError } from './shell/index.ts';

/** The operator's bounds on every run, read from an environment. */
export interface OperatorSettings {
  /** Undefined: no file has one; the store may. */
  policy: OperatorPolicy | undefined;
  sourceRoots: readonly string[];
  publishRoots: readonly string[];
  ceilings: Ceilings;
}

/** The API and the workers check the same when they start. @throws CliError `bad_environment`, which names the variable */
export function readOperatorSettings(env: Readonly<Record<string, string>>): OperatorSettings {
  try {
    callerLimitsFrom(env);
    const { sourceRoots = [], publishRoots = [] } = rootsFrom(env);
    const file = policyFileFrom(env);
    const policy = file === undefined ? undefined : readPolicyFile(file, catalogTools());
    return { policy, ceilings: ceilingsFrom(env), sourceRoots, publishRoots };
  } catch (cause) {
    throw new CliError('bad_environment', cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** Roots where no directory exists: no source can lie below them. */
export function missingRoots({ sourceRoots, publishRoots }: OperatorSettings): string[] {
  const isMissing = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true;
  return [...new Set([...sourceRoots, ...publishRoots])].filter(isMissing);
}
