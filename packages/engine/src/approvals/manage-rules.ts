import { defaultTenant, isIdOf, type Tenant } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import { EngineError, isAbandoned, type RuleState, revokeRule as revoke } from '../domain/index.ts';
import { append, Damaged, ownerOf, readEntry, readRule, ruleIndexOf, splitDamaged, tenantOf } from '../log/index.ts';
import type { Page } from '../queries/index.ts';
import { idOf, isInForce, readListed } from './rule-index.ts';

/** A remembered rule, and the run in which a decision made the rule. */
export interface ListedRule {
  rule: RuleState;
  runId: string;
  /** Neither revoked nor expired. */
  isInForce: boolean;
}

/** The remembered rules in force, newest first. @param page.cursor the last id of the previous page */
export async function listRules(
  deps: Pick<EngineDeps, 'redis' | 'now'>,
  { tenant = defaultTenant, run_id }: { tenant?: Tenant; run_id?: string | undefined },
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<Page<ListedRule>> {
  const indexed = await deps.redis.zrange(ruleIndexOf(tenant), '0', '-1');
  const newestFirst = indexed
    .filter((entry) => cursor === undefined || idOf(entry) < cursor)
    .sort((one, other) => (idOf(one) < idOf(other) ? 1 : -1));
  const entries: (ListedRule | Damaged)[] = [];
  for (const entry of newestFirst) {
    const listed = await readEntry(idOf(entry), () => readListed(deps, entry));
    if (!(listed instanceof Damaged)) {
      if (listed === undefined || !isInForce(listed.rule, deps.now())) continue;
      if (run_id !== undefined && listed.runId !== run_id) continue;
    }
    const last = entries.at(-1);
    if (entries.length === limit && last) return { ...splitDamaged(entries), next: idOfListed(last) };
    entries.push(listed instanceof Damaged ? listed : { ...listed, isInForce: true });
  }
  return splitDamaged(entries);
}

const idOfListed = (entry: ListedRule | Damaged): string => (entry instanceof Damaged ? entry.id : entry.rule.id);

/** @throws EngineError `rule_not_found`, also for a rule of another tenant */
export async function getRule(
  deps: Pick<EngineDeps, 'redis' | 'now'>,
  id: string,
  tenant: Tenant,
): Promise<ListedRule> {
  const runId = isIdOf('rule', id) ? await ownerOf(deps.redis, id) : null;
  const isMine = (await tenantOf(deps.redis, runId ?? id)) === tenant;
  const rule = runId === null || !isMine ? undefined : await readRule(deps.redis, runId, id);
  if (rule === undefined || runId === null)
    throw new EngineError('rule_not_found', `there is no remembered rule ${id}`);
  return { rule, runId, isInForce: isInForce(rule, deps.now()) };
}

/** Ends a remembered rule: the rule approves no later call. No-op for a revoked rule. @throws EngineError `rule_not_found` */
export async function revokeRule(
  deps: EngineDeps,
  id: string,
  { tenant, by }: { tenant: Tenant; by: string },
): Promise<ListedRule> {
  const { rule, runId } = await getRule(deps, id, tenant);
  // Only the append counts: an index entry that outlives a failed removal finds a revoked rule.
  await append(deps, runId, revoke(id, by));
  await deps.redis.zrem(ruleIndexOf(tenant), `${rule.made.call_digest} ${id}`);
  return getRule(deps, id, tenant);
}

/** Removes the index entries of rules that are not in force. */
export async function dropRules(deps: EngineDeps, tenant: Tenant, entries: readonly string[]): Promise<void> {
  for (const entry of entries) {
    const listed = await readListed(deps, entry);
    const isOver = listed === undefined ? isAbandoned(idOf(entry), deps.now()) : !isInForce(listed.rule, deps.now());
    if (isOver) await deps.redis.zrem(ruleIndexOf(tenant), entry);
  }
}
