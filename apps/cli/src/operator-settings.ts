import { statSync } from 'node:fs';
import { callerLimitsFrom } from '@holdpoint/callers';
import type { OperatorPolicy } from '@holdpoint/contract';
import { type Ceilings, ceilingsFrom, operatorPolicyFrom } from '@holdpoint/engine';
import { checkRules } from '@holdpoint/policy';
import { rootsFrom } from '@holdpoint/workspace/roots';
import { catalogTools } from './policy/catalog-tools.ts';
import { CliError } from './shell/index.ts';

/** The operator's bounds on every run, read from an environment. */
export interface OperatorSettings {
  policy: OperatorPolicy | undefined;
  sourceRoots: readonly string[];
  publishRoots: readonly string[];
  ceilings: Ceilings;
}

/** The API and the workers check the same when they start. @throws CliError `bad_environment`, which names the variable */
export function readOperatorSettings(env: Readonly<Record<string, string>>): OperatorSettings {
  let settings: OperatorSettings;
  try {
    callerLimitsFrom(env);
    const { sourceRoots = [], publishRoots = [] } = rootsFrom(env);
    settings = { policy: operatorPolicyFrom(env), ceilings: ceilingsFrom(env), sourceRoots, publishRoots };
  } catch (cause) {
    throw new CliError('bad_environment', cause instanceof Error ? cause.message : String(cause), { cause });
  }
  const wrong = checkRules(settings.policy?.rules ?? [], catalogTools()).map(
    ({ pointer, detail }) => `HOLDPOINT_POLICY: ${pointer}: ${detail}`,
  );
  if (wrong.length > 0) throw new CliError('bad_environment', wrong.join('\n'));
  return settings;
}

/** Roots where no directory exists: no source can lie below them. */
export function missingRoots({ sourceRoots, publishRoots }: OperatorSettings): string[] {
  const isMissing = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true;
  return [...new Set([...sourceRoots, ...publishRoots])].filter(isMissing);
}
