import type { Risk, Tenant } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import type { ApprovalState, RunState } from '../domain/index.ts';
import { approvalFacetIndexOf, approvalFacetsKey } from './keys.ts';
import { readTenant } from './known-tenants.ts';
import { readApproval, readRun, readSteps } from './read-state.ts';

/** The properties by which lists find a pending approval, besides its time. */
export interface ApprovalFacets {
  run: string;
  /** Undefined for an approval about a publish. */
  tool: string | undefined;
  /** Name of the rule which holds the call. */
  rule: string | undefined;
  labels: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch. */
  expiresAt: number;
  risk: Risk;
}

/** The names of the lists containing an approval. */
export const facetNames = ({ run, tool, rule, labels }: Omit<ApprovalFacets, 'expiresAt' | 'risk'>): string[] => [
  `run:${run}`,
  ...(tool === undefined ? [] : [`tool:${tool}`]),
  ...(rule === undefined ? [] : [`rule:${rule}`]),
  ...Object.entries(labels).map(labelFacet),
];
export const labelFacet = ([name, value]: readonly [string, string]): string =>
  `label:${JSON.stringify([name, value])}`;

const risks: readonly Risk[] = ['high', 'medium', 'low'];

/** The order of an inbox: what expires in an earlier second comes first, then the higher risk. Equal scores sort by their ids: by age. */
const urgencyOf = ({ expiresAt, risk }: Pick<ApprovalFacets, 'expiresAt' | 'risk'>): number =>
  Math.floor(expiresAt / 1000) * risks.length + risks.indexOf(risk);

/** The lists of every pending approval: by expiry, and by urgency. */
const orders = ['expiry', 'urgency'];

/**
 * Call before the append of the request, as for every index. The hash names the lists of an approval, so a decision need not know the
 * lists.
 */
export async function listFacets(
  redis: Redis,
  tenant: Tenant,
  { id, facets }: { id: string; facets: ApprovalFacets },
): Promise<void> {
  const names = facetNames(facets);
  await Promise.all([
    redis.hset(approvalFacetsKey(tenant), id, JSON.stringify(names)),
    redis.zadd(approvalFacetIndexOf(tenant, 'expiry'), facets.expiresAt, id),
    redis.zadd(approvalFacetIndexOf(tenant, 'urgency'), urgencyOf(facets), id),
    ...names.map((name) => redis.zadd(approvalFacetIndexOf(tenant, name), 0, id)),
  ]);
}

const unlist = `local names = redis.call('HGET', KEYS[1], ARGV[2])
if names then
  for _, name in ipairs(cjson.decode(names)) do redis.call('ZREM', ARGV[1] .. name, ARGV[2]) end
end
redis.call('ZREM', ARGV[1] .. 'expiry', ARGV[2])
redis.call('ZREM', ARGV[1] .. 'urgency', ARGV[2])
return redis.call('HDEL', KEYS[1], ARGV[2])`;

export async function unlistFacets(redis: Redis, tenant: Tenant, id: string): Promise<void> {
  await redis.eval(unlist, 1, approvalFacetsKey(tenant), approvalFacetIndexOf(tenant, ''), id);
}

/** The facets of an approval, from its log. */
export async function facetsOf(redis: Redis, run: RunState, approval: ApprovalState): Promise<ApprovalFacets> {
  const { step_id: stepId, rule, expires_at, risk } = approval.request;
  const [step] = stepId === undefined ? [] : await readSteps(redis, run.id, [stepId]);
  return {
    ...{ run: run.id, tool: step?.call.tool, rule: rule?.name, labels: run.header.labels },
    ...{ expiresAt: Date.parse(expires_at), risk },
  };
}

/**
 * Adds a pending approval to the lists of its facets when entries are missing: they were lost, or the approval is older than the lists.
 * @returns whether an entry was missing
 */
export async function ensureFacets(redis: Redis, runId: string, approvalId: string): Promise<boolean> {
  const tenant = await readTenant(redis, runId);
  const names = await redis.hget(approvalFacetsKey(tenant), approvalId);
  if (names !== null) {
    const keys = [...(JSON.parse(names) as string[]), ...orders].map((name) => approvalFacetIndexOf(tenant, name));
    const scores = await Promise.all(keys.map((key) => redis.zscore(key, approvalId)));
    if (scores.every((score) => score !== null)) return false;
  }
  const [run, approval] = await Promise.all([readRun(redis, runId), readApproval(redis, runId, approvalId)]);
  if (run === undefined || approval?.status !== 'pending') return false;
  await listFacets(redis, tenant, { id: approvalId, facets: await facetsOf(redis, run, approval) });
  // The approval may have been decided in between.
  if ((await readApproval(redis, runId, approvalId))?.status === 'pending') return true;
  await unlistFacets(redis, tenant, approvalId);
  return false;
}

/** When the first pending approval of a tenant expires, milliseconds since the epoch; infinity: none is pending. */
export async function firstExpiry(redis: Redis, tenant: Tenant): Promise<number> {
  const [, score] = await redis.zrange(approvalFacetIndexOf(tenant, 'expiry'), '0', '0', 'WITHSCORES');
  return score === undefined ? Number.POSITIVE_INFINITY : Number(score);
}
