import { defaultTenant } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import type { RuleState, RunState, Transition } from '../domain/index.ts';
import { claimOwner, ownerOf, readRule, ruleIndexOf } from '../log/index.ts';

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
