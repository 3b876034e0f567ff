import * as contract from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import { EngineError } from '../domain/index.ts';
import { type Damaged, readEntry, splitDamaged } from '../log/index.ts';

type Deps = Pick<EngineDeps, 'redis'>;

interface Named {
  tenant: contract.Tenant;
  name: string;
}

/**
 * A version of a policy. Without a number: the newest, unless the policy was deleted.
 * @throws EngineError `policy_not_found`
 */
export async function getPolicy(
  deps: Deps,
  { version, ...named }: Named & { version?: number | undefined },
): Promise<contract.PolicyVersion> {
  const wanted = version ?? (await latestVersion(deps, named));
  const found = wanted === 0 ? undefined : await readVersion(deps, named, wanted);
  if (found === undefined) throw await policyNotFound(deps, named, version);
  return found;
}

/** 0: the policy does not exist. */
export async function latestVersion({ redis }: Deps, { tenant, name }: Named): Promise<number> {
  const [latest, deleted] = await redis.hmget(policyKey(tenant, name), 'latest', 'deleted');
  return deleted == null ? Number(latest ?? 0) : 0;
}

async function readVersion(
  { redis }: Deps,
  { tenant, name }: Named,
  version: number,
): Promise<contract.PolicyVersion | undefined> {
  const text = await redis.hget(policyKey(tenant, name), `version:${version}`);
  return text === null ? undefined : contract.policyVersionSchema.parse({ name, version, ...JSON.parse(text) });
}

/** The newest version of every policy of a tenant, by name. */
export async function listPolicies(
  deps: Deps,
  tenant: contract.Tenant,
): Promise<{ items: contract.PolicyVersion[]; damaged: Damaged[] }> {
  const names = await deps.redis.zrange(policyNamesKey(tenant), '0', '-1');
  const found: (contract.PolicyVersion | Damaged)[] = [];
  for (const name of names) {
    const policy = await readEntry(name, async () => {
      const version = await latestVersion(deps, { tenant, name });
      return version === 0 ? undefined : readVersion(deps, { tenant, name }, version);
    });
    if (policy !== undefined) found.push(policy);
  }
  return splitDamaged(found);
}

/**
 * Versions of a policy, newest first, also of a deleted policy.
 * @param page.cursor the last version of the previous page
 * @throws EngineError `policy_not_found`
 */
export async function listVersions(
  deps: Deps,
  { limit, cursor, ...named }: Named & { limit: number; cursor?: number | undefined },
): Promise<{ items: contract.PolicyVersion[]; damaged: Damaged[]; next: number | undefined }> {
  const latest = Number((await deps.redis.hget(policyKey(named.tenant, named.name), 'latest')) ?? 0);
  if (latest === 0) throw await policyNotFound(deps, named);
  const first = Math.min(latest, (cursor ?? latest + 1) - 1);
  const numbers = Array.from({ length: Math.max(0, Math.min(limit, first)) }, (_, at) => first - at);
  const found = await Promise.all(
    numbers.map((version) => readEntry(`${named.name}@${version}`, () => readVersion(deps, named, version))),
  );
  const last = numbers.at(-1) ?? 1;
  return { ...splitDamaged(found.filter((item) => item !== undefined)), next: last > 1 ? last : undefined };
}

/** The policy document for a new run. @throws EngineError `policy_not_found` */
export async function resolvePolicy(
  deps: Deps,
  tenant: contract.Tenant,
  { name, version }: contract.PolicyReference,
): Promise<{ policy: contract.Policy; policy_pin: contract.PolicyPin }> {
  const found = await getPolicy(deps, { tenant, name, version });
  const policy_pin = { name, version: found.version, digest: found.digest };
  return { policy: contract.policySchema.parse(found.document), policy_pin };
}

/** Names the nearest policies of the tenant. */
export async function policyNotFound(deps: Deps, { tenant, name }: Named, version?: number): Promise<EngineError> {
  const latest = Number((await deps.redis.hget(policyKey(tenant, name), 'latest')) ?? 0);
  if (version !== undefined && latest > 0) {
    return new EngineError(
      'policy_not_found',
      `the policy ${name} has no version ${version}: its last one is ${latest}`,
    );
  }
  const names = await deps.redis.zrange(policyNamesKey(tenant), '0', '-1');
  const known = names.filter((one) => one !== contract.operatorPolicyName);
  const near = known.length === 0 ? 'The tenant has none' : `Nearest: ${contract.nearestNames(name, known).join(', ')}`;
  return new EngineError('policy_not_found', `there is no policy ${JSON.stringify(name)}. ${near}`);
}

/**
 * Names have no colon, so no two policies share a key. All keys share one hash tag, because scripts use a policy together with the list of
 * names.
 */
const prefix = 'hp:{policies}:';
/** A hash: `latest`, `digest` of the newest version, `deleted`, and each version as JSON under its number. */
export const policyKey = (tenant: contract.Tenant, name: string): string => `${prefix}policy:${tenant}:${name}`;
/** A sorted set of equal scores: the names of the policies that are not deleted. */
export const policyNamesKey = (tenant: contract.Tenant): string => `${prefix}names:${tenant}`;
/** A hash: all operator policies that were ever in force, by the short digest recorded in steps. */
export const operatorDocumentsKey = `${prefix}operator-documents`;
