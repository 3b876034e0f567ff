import type { Worker } from '@holdpoint/client/wire/operation';
import { operatorPolicyDigest } from '@holdpoint/engine/domain/operator-policy';
import { operatorPolicyFrom } from '@holdpoint/engine/operator-policy';
import type { Config } from '../config.ts';
import type { Finding } from './finding.ts';

const name = 'bounds';

type Bounds = NonNullable<Worker['bounds']>;

/** What of the operator's binds every run: what this environment says, and what the workers that are alive were started with. */
export function checkBounds(config: Pick<Config, 'environment'>, workers: readonly Pick<Worker, 'bounds'>[]): Finding {
  let here: Bounds;
  try {
    here = boundsOf(config.environment);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return { name, level: 'fail', text, next: 'Correct it: no program starts with it as it is.' };
  }
  const theirs = workers.flatMap(({ bounds }) => (bounds === undefined ? [] : [bounds]));
  const settings = [...new Set((theirs.length === 0 ? [here] : theirs).map(textOf))];
  const text = settings.join('\nanother worker: ');
  if (settings.length < 2) return { name, level: 'ok', text };
  const next =
    'Start the API and all workers with the same HOLDPOINT_POLICY, HOLDPOINT_SOURCE_ROOTS and HOLDPOINT_PUBLISH_ROOTS.';
  return { name, level: 'warn', text, next };
}

function boundsOf(env: Readonly<Record<string, string>>): Bounds {
  const policy = operatorPolicyFrom(env);
  const roots = (variable: string) => (env[variable] ?? '').split(':').filter((path) => path !== '');
  return {
    policy: policy === undefined ? null : operatorPolicyDigest(policy),
    source_roots: roots('HOLDPOINT_SOURCE_ROOTS'),
    publish_roots: roots('HOLDPOINT_PUBLISH_ROOTS'),
  };
}

function textOf({ policy, source_roots: sources, publish_roots: targets }: Bounds): string {
  const everywhere = 'all but system directories, homes as a whole and their dot folders';
  return [
    policy === null ? "no operator's policy (HOLDPOINT_POLICY)" : `operator's policy ${policy.slice(0, 19)}`,
    `sources: ${sources.length === 0 ? everywhere : sources.join(', ')}`,
    `publish: ${targets.length === 0 ? 'wherever a source may lie' : targets.join(', ')}`,
  ].join('; ');
}
