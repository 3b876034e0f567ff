import { defaultTenant, isIdOf, type Tenant } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import {
  EngineError,
  isAbandoned,
  type RuleState,
  type RunState,
  revokeRule as revoke,
  type Transition,
} from '../domain/index.ts';
import {
  append,
  claimOwner,
  Damaged,
  ownerOf,
  readEntry,
  readRule,
  ruleIndexOf,
  splitDamaged,
  tenantOf,
} from '../log/index.ts';
import type { Page } from '../queries/index.ts';

/** The log of the run with the approval holds the rule; an entry only finds the rule. */
const entryOf = (callDigest: string, ruleId: string): string => `${callDigest} ${ruleId}`;

/** The rules that a decision makes. */
export const madeBy = ({ events }: Transition) =>
  events.flatMap((event) => (event.type === 'rule.remembered' ? [event.data] : []));

/** Runs before the append that makes a rule, so that every rule in a log can be found. */
export async function listRule({ redis }: EngineDeps, run: RunState, transition: Transition): Promise<void> {
  for (const { rule_id, call_digest } of madeBy(transition)) {
    await claimOwner(redis, run.id, [rule_id]);
    await redis.zadd(ruleIndexOf(run.tenant ?? defaultTenant), 0, entryOf(call_digest, rule_id));
  }
}

export async function unlistRule({ redis }: EngineDeps, run: RunState, transition: Transition): Promise<void> {
  for (const { rule_id, call_digest } of madeBy(transition)) {
    await redis.zrem(ruleIndexOf(run.tenant ?? defaultTenant), entryOf(call_digest, rule_id));
  }
}

/** Rules with one of these digests that are in force for the run. */
export async function rulesFor(
  deps: Pick<EngineDeps, 'redis' | 'now'>,
  run: RunState,
  callDigests: readonly string[],
): Promise<{ rule: RuleState; runId: string }[]> {
  const index = ruleIndexOf(run.tenant ?? defaultTenant);
  // "!" is the character after the blank.
  const entriesOf = (digest: string) => deps.redis.zrangebylex(index, `[${digest} `, `(${digest}!`);
  const entries = (await Promise.all(callDigests.map(entriesOf))).flat();
  const found = await Promise.all(entries.map((entry) => readListed(deps, entry)));
  return found
    .filter((one) => one !== undefined)
    .filter(({ rule, runId }) => isInForce(rule, deps.now()) && (rule.made.scope === 'policy' || runId === run.id));
}

export const isInForce = ({ status, made }: RuleState, now: number): boolean =>
  status === 'made' && Date.parse(made.expires_at) > now;

/** The rule of an entry, and the run with the rule. Undefined when the append of the rule is missing. */
export async function readListed(
  { redis }: Pick<EngineDeps, 'redis'>,
  entry: string,
): Promise<{ rule: RuleState; runId: string } | undefined> {
  const id = idOf(entry);
  const runId = await ownerOf(redis, id);
  const rule = runId === null ? undefined : await readRule(redis, runId, id);
  return rule && runId !== null ? { rule, runId } : undefined;
}

export const idOf = (entry: string): string => entry.slice(entry.indexOf(' ') + 1);

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
