import { readFileSync } from 'node:fs';
import * as contract from '@holdpoint/contract';
import { policyDigest } from '@holdpoint/policy';
import type { EngineDeps } from '../deps.ts';
import { EngineError } from '../domain/index.ts';
import { getPolicy, policyKey, policyNamesKey, policyNotFound } from './read-policies.ts';

const putScript = readFileSync(new URL('./put.lua', import.meta.url), 'utf8');
const deleteScript = readFileSync(new URL('./delete.lua', import.meta.url), 'utf8');

const mostPolicies = 1000;
const mostVersions = 10_000;

type Deps = Pick<EngineDeps, 'redis' | 'now'>;

interface Change {
  tenant: contract.Tenant;
  name: string;
  /** The version that the caller saw; 0: the policy did not exist. */
  ifVersion?: number | undefined;
}

/**
 * Stores a checked document as the next version of a policy. A document equal to the newest version makes no version.
 * @throws EngineError `invalid_policy_name`, `policy_not_allowed`, `policy_changed`, `too_many_policies`
 */
export async function putPolicy(
  { redis, now }: Deps,
  {
    tenant,
    name,
    ifVersion,
    document,
    by,
  }: Change & { document: contract.Policy | contract.OperatorPolicy; by: string },
): Promise<{ policy: contract.PolicyVersion; created: boolean }> {
  assertName(tenant, name);
  const digest = policyDigest(document);
  const stored = JSON.stringify({ digest, document, created_at: new Date(now()).toISOString(), by });
  const [outcome, version] = (await redis.eval(
    putScript,
    2,
    policyKey(tenant, name),
    policyNamesKey(tenant),
    ...[name, digest, stored, ifVersion ?? '', mostPolicies, mostVersions],
  )) as [string, number];
  if (outcome === 'changed') throw changed(name, ifVersion, version);
  if (outcome === 'full') {
    const most = `${mostPolicies} policies, and ${mostVersions} versions of each`;
    throw new EngineError('too_many_policies', `the tenant ${tenant} may have ${most}`);
  }
  return { policy: await getPolicy({ redis }, { tenant, name, version }), created: outcome === 'created' };
}

/** @returns the last version. @throws EngineError `policy_not_found`, `policy_not_allowed`, `policy_changed` */
export async function deletePolicy({ redis }: Pick<Deps, 'redis'>, change: Change): Promise<contract.PolicyVersion> {
  const { tenant, name, ifVersion } = change;
  if (name === contract.operatorPolicyName) assertName(tenant, name);
  const keys = [policyKey(tenant, name), policyNamesKey(tenant)] as const;
  const [outcome, version] = (await redis.eval(deleteScript, 2, ...keys, name, ifVersion ?? '')) as [string, number];
  if (outcome === 'absent') throw await policyNotFound({ redis }, { tenant, name });
  if (outcome === 'changed') throw changed(name, ifVersion, version);
  return getPolicy({ redis }, { tenant, name, version });
}

const changed = (name: string, expected: number | undefined, version: number): EngineError =>
  new EngineError(
    'policy_changed',
    version === 0 ? `there is no policy ${name}` : `the policy ${name} is at version ${version}, not ${expected}`,
  );

function assertName(tenant: contract.Tenant, name: string): void {
  if (name === contract.operatorPolicyName) {
    if (tenant === contract.defaultTenant) return;
    throw new EngineError(
      'policy_not_allowed',
      `only keys of the tenant ${contract.defaultTenant} change the operator's policy`,
    );
  }
  const { success, error } = contract.policyNameSchema.safeParse(name);
  if (!success) throw new EngineError('invalid_policy_name', error.issues[0]?.message ?? 'invalid');
}
