import { defaultTenant, isIdOf, type Json, type RememberedRule, type Tenant } from '@holdpoint/contract';
import { describeTouches, onlyReads } from '@holdpoint/policy';
import type { EngineDeps } from '../deps.ts';
import * as domain from '../domain/index.ts';
import * as runLog from '../log/index.ts';
import type { ToolCatalog } from '../ports/index.ts';
import type { Page } from '../queries/index.ts';
import type { DecisionRequest, Remember } from './confirm-decision.ts';
import type { StepApproval } from './view-approval.ts';

/** The log of the run with the approval holds the rule; an entry only finds the rule. */
const entryOf = (callDigest: string, ruleId: string): string => `${callDigest} ${ruleId}`;

/** The rules that a decision makes. */
export const madeBy = ({ events }: domain.Transition) =>
  events.flatMap((event) => (event.type === 'rule.remembered' ? [event.data] : []));

/** Runs before the append that makes a rule, so that every rule in a log can be found. */
export async function listRule(
  { redis }: EngineDeps,
  run: domain.RunState,
  transition: domain.Transition,
): Promise<void> {
  for (const { rule_id, call_digest } of madeBy(transition)) {
    await runLog.claimOwner(redis, run.id, [rule_id]);
    await redis.zadd(runLog.ruleIndexOf(run.tenant ?? defaultTenant), 0, entryOf(call_digest, rule_id));
  }
}

export async function unlistRule(
  { redis }: EngineDeps,
  run: domain.RunState,
  transition: domain.Transition,
): Promise<void> {
  for (const { rule_id, call_digest } of madeBy(transition)) {
    await redis.zrem(runLog.ruleIndexOf(run.tenant ?? defaultTenant), entryOf(call_digest, rule_id));
  }
}

/** Rules with one of these digests that are in force for the run. */
export async function rulesFor(
  deps: Pick<EngineDeps, 'redis' | 'now'>,
  run: domain.RunState,
  callDigests: readonly string[],
): Promise<{ rule: domain.RuleState; runId: string }[]> {
  const index = runLog.ruleIndexOf(run.tenant ?? defaultTenant);
  // "!" is the character after the blank.
  const entriesOf = (digest: string) => deps.redis.zrangebylex(index, `[${digest} `, `(${digest}!`);
  const entries = (await Promise.all(callDigests.map(entriesOf))).flat();
  const found = await Promise.all(entries.map((entry) => readListed(deps, entry)));
  return found
    .filter((one) => one !== undefined)
    .filter(({ rule, runId }) => isInForce(rule, deps.now()) && (rule.made.scope === 'policy' || runId === run.id));
}

const isInForce = ({ status, made }: domain.RuleState, now: number): boolean =>
  status === 'made' && Date.parse(made.expires_at) > now;

/** The rule of an entry, and the run with the rule. Undefined when the append of the rule is missing. */
async function readListed(
  { redis }: Pick<EngineDeps, 'redis'>,
  entry: string,
): Promise<{ rule: domain.RuleState; runId: string } | undefined> {
  const id = idOf(entry);
  const runId = await runLog.ownerOf(redis, id);
  const rule = runId === null ? undefined : await runLog.readRule(redis, runId, id);
  return rule && runId !== null ? { rule, runId } : undefined;
}

const idOf = (entry: string): string => entry.slice(entry.indexOf(' ') + 1);

/** A remembered rule, and the run in which a decision made the rule. */
export interface ListedRule {
  rule: domain.RuleState;
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
  const indexed = await deps.redis.zrange(runLog.ruleIndexOf(tenant), '0', '-1');
  const newestFirst = indexed
    .filter((entry) => cursor === undefined || idOf(entry) < cursor)
    .sort((one, other) => (idOf(one) < idOf(other) ? 1 : -1));
  const entries: (ListedRule | runLog.Damaged)[] = [];
  for (const entry of newestFirst) {
    const listed = await runLog.readEntry(idOf(entry), () => readListed(deps, entry));
    if (!(listed instanceof runLog.Damaged)) {
      if (listed === undefined || !isInForce(listed.rule, deps.now())) continue;
      if (run_id !== undefined && listed.runId !== run_id) continue;
    }
    const last = entries.at(-1);
    if (entries.length === limit && last) return { ...runLog.splitDamaged(entries), next: idOfListed(last) };
    entries.push(listed instanceof runLog.Damaged ? listed : { ...listed, isInForce: true });
  }
  return runLog.splitDamaged(entries);
}

const idOfListed = (entry: ListedRule | runLog.Damaged): string =>
  entry instanceof runLog.Damaged ? entry.id : entry.rule.id;

/** @throws EngineError `rule_not_found`, also for a rule of another tenant */
export async function getRule(
  deps: Pick<EngineDeps, 'redis' | 'now'>,
  id: string,
  tenant: Tenant,
): Promise<ListedRule> {
  const runId = isIdOf('rule', id) ? await runLog.ownerOf(deps.redis, id) : null;
  const isMine = (await runLog.tenantOf(deps.redis, runId ?? id)) === tenant;
  const rule = runId === null || !isMine ? undefined : await runLog.readRule(deps.redis, runId, id);
  if (rule === undefined || runId === null)
    throw new domain.EngineError('rule_not_found', `there is no remembered rule ${id}`);
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
  await runLog.append(deps, runId, domain.revokeRule(id, by));
  await deps.redis.zrem(runLog.ruleIndexOf(tenant), `${rule.made.call_digest} ${id}`);
  return getRule(deps, id, tenant);
}

/** Removes the index entries of rules that are not in force. */
export async function dropRules(deps: EngineDeps, tenant: Tenant, entries: readonly string[]): Promise<void> {
  for (const entry of entries) {
    const listed = await readListed(deps, entry);
    const isOver =
      listed === undefined ? domain.isAbandoned(idOf(entry), deps.now()) : !isInForce(listed.rule, deps.now());
    if (isOver) await deps.redis.zrem(runLog.ruleIndexOf(tenant), entry);
  }
}

const day = 24 * 3600;
export const defaultRuleSeconds = 30 * day;
export const longestRuleSeconds = 365 * day;

/**
 * The rule that a decision would make. The rule covers exactly this call but for its advisory arguments, even when the files behind the call
 * change later.
 */
export function proposedRule({ catalog }: Pick<EngineDeps, 'catalog'>, view: StepApproval) {
  const call = callOf(view);
  const leaves_out = advisoryOf(catalog, call);
  return { ...call, leaves_out, call_digest: domain.callDigest(call, leaves_out) };
}

/** The rules in force about the call of an approval. */
export const rulesAbout = (deps: Pick<EngineDeps, 'redis' | 'catalog' | 'now'>, view: StepApproval) =>
  rulesFor(deps, view.run, domain.coveringDigests(callOf(view), advisoryOf(deps.catalog, callOf(view))));

const callOf = ({ run, step, args, effect, approval }: StepApproval) => ({
  toolset: run.header.toolset,
  tool: step.call.tool,
  ...{ args, effect, reaches: approval.request.reaches },
});

/** Why an approval cannot make a rule; undefined when it can. */
export function whyNotRemembered({ approval, step }: StepApproval): string | undefined {
  const { kind, rule } = approval.request;
  if (kind !== 'action' || step.call.gate !== undefined) return 'only a decision on a call can be remembered';
  return rule === undefined ? 'the tool asks because of what the workspace holds, which can change' : undefined;
}

interface Asked {
  panel: domain.Panel;
  caller: domain.Decider;
  request: Pick<DecisionRequest, 'decision' | 'message'>;
  remember: Remember;
}

/** @throws EngineError `invalid_decision` */
export async function newRule(
  deps: Pick<EngineDeps, 'blobs' | 'catalog' | 'newId' | 'now'>,
  view: StepApproval,
  { panel, caller, request, remember }: Asked,
): Promise<RememberedRule> {
  const { scope, expires_s: seconds = defaultRuleSeconds, external } = remember;
  const isRejected = request.decision === 'reject';
  const reason = whyNotRemembered(view);
  if (reason !== undefined) throw new domain.EngineError('invalid_decision', reason);
  if (!isRejected && view.approval.request.confirm === 'passkey') {
    throw new domain.EngineError('invalid_decision', 'each such call needs a passkey, and a remembered rule has none');
  }
  if (!isRejected && !domain.decidesAlone(panel, caller)) {
    const message = 'a call on which several callers decide cannot be remembered by one of them';
    throw new domain.EngineError('invalid_decision', message);
  }
  if (seconds < 1 || seconds > longestRuleSeconds) {
    throw new domain.EngineError(
      'invalid_decision',
      `expires_s is ${seconds}: a remembered rule lives for 1 to ${longestRuleSeconds} seconds (a year)`,
    );
  }
  const { args, leaves_out, ...call } = proposedRule(deps, view);
  if (!isRejected && call.effect === 'external' && external !== true) {
    const message =
      'the call has effects outside the workspace, and such a call is remembered only with external: true';
    throw new domain.EngineError('invalid_decision', message);
  }
  return {
    ...call,
    ...{ rule_id: deps.newId('rule'), scope, by: caller.name, kind: caller.kind },
    ...(isRejected && { decision: 'reject', message: request.message }),
    args: await runLog.toPayload(deps.blobs, args),
    leaves_out: leaves_out.length === 0 ? undefined : leaves_out,
    expires_at: new Date(deps.now() + seconds * 1000).toISOString(),
  };
}

type Catalog = Pick<ToolCatalog, 'advisory' | 'describe'>;

interface AskedCall {
  toolset: string;
  tool: string;
  args: Json;
}

/**
 * The arguments of a call that a remembered rule leaves out, in order. A time limit is among them only where the command judge of the
 * policies finds that every command of the call just reads: `sleep 100; rm x` reaches `rm` or not by its limit, `git status` changes
 * nothing under any.
 */
export function advisoryOf(catalog: Catalog, call: AskedCall): string[] {
  const { words = [], limits = [] } = catalog.advisory(call.toolset, call.tool);
  const isLimitOpen = limits.length > 0 && justReads(catalog, call);
  return [...words, ...(isLimitOpen ? limits : [])].sort();
}

/** A background command outlives its call, so its limit is about other calls, too. */
function justReads(catalog: Catalog, call: AskedCall): boolean {
  const described = catalog.describe({ ...call, network: false });
  return described.ok && !described.touches.background && onlyReads(describeTouches(described.touches));
}
