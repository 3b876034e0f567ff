import * as contract from '@holdpoint/contract';
import * as policyLanguage from '@holdpoint/policy';
import { describeCall } from '../../approvals/describe-call.ts';
import { factsOf, toolsetPolicyOf, withQuestion } from '../../approvals/judge-described.ts';
import type { EngineDeps } from '../../deps.ts';
import { judgeGrants, policiesOf, type RunState, shortDigest, specThen } from '../../domain/index.ts';
import { Damaged, fromPayload, readEntry, readRun, readSpec, readWholeLog, runIndexOf } from '../../log/index.ts';
import { walkBack } from '../../queries/list-runs.ts';
import { operatorDocumentsKey } from '../read-policies.ts';
import { type LoggedCall, readCalls } from './read-calls.ts';

/** A policy to try on past calls. */
export interface Candidate {
  document: contract.Policy | contract.OperatorPolicy;
  /** The name of the policy in verdicts. */
  name: string;
  version?: number | undefined;
  /**
   * `operator`: replaces the operator's policies. Another name: replaces the policy of runs with this policy only. Without a name:
   * replaces the policy of every run.
   */
  insteadOf?: string | undefined;
}

interface Replayed extends Pick<LoggedCall, 'stepId' | 'at' | 'tool' | 'was' | 'decision'> {
  runId: string;
  args: unknown;
}

export interface ReplayPage {
  runs: number;
  calls: number;
  unchanged: number;
  counts: Record<contract.PolicyAction, number>;
  /** Newly allowed calls first, led by the calls that were denied or refused. */
  changed: (Replayed & { verdict: contract.Verdict })[];
  notJudged: (Replayed & { reason: string })[];
  /** The number of counted calls outside the lists. */
  leftOut: number;
  /** Runs that cannot be read. */
  damaged: Damaged[];
  next: string | undefined;
}

/** A page ends with the run that reaches `mostRuns` or `mostCalls`. */
const mostRuns = 100;
const mostCalls = 2000;
const mostListed = 1000;

type Deps = Pick<EngineDeps, 'redis' | 'blobs' | 'catalog'>;

/**
 * Judges the recorded calls of a tenant's runs again, newest run first. Changes nothing. @param page.cursor the last run of the previous
 * page
 */
export async function replayPolicy(
  deps: Deps,
  candidate: Candidate,
  { tenant, since, cursor }: { tenant: contract.Tenant; since: string; cursor?: string | undefined },
): Promise<ReplayPage> {
  const counts = { allow: 0, hold: 0, deny: 0 };
  const page: ReplayPage = {
    runs: 0,
    calls: 0,
    unchanged: 0,
    counts,
    changed: [],
    notJudged: [],
    leftOut: 0,
    damaged: [],
    next: undefined,
  };
  for await (const run of runsSince(deps, { tenant, since, cursor })) {
    const replayed =
      run instanceof Damaged ? run : await readEntry(run.id, () => replayRun(deps, candidate, run, page));
    if (replayed instanceof Damaged) page.damaged.push(replayed);
    if (page.runs + page.damaged.length >= mostRuns || page.calls >= mostCalls) {
      page.next = run.id;
      break;
    }
  }
  page.changed.sort((a, b) => order(b) - order(a));
  return page;
}

/** The runs that were created after a time, newest first. */
export async function* runsSince(
  deps: Pick<Deps, 'redis'>,
  { tenant, since, cursor }: { tenant: contract.Tenant; since: string; cursor?: string | undefined },
): AsyncGenerator<RunState | Damaged> {
  for await (const id of walkBack(deps, runIndexOf(tenant), cursor)) {
    const run = await readEntry(id, () => readRun(deps.redis, id));
    if (run !== undefined && !(run instanceof Damaged) && Date.parse(run.created_at) <= Date.parse(since)) return;
    if (run !== undefined) yield run;
  }
}

async function replayRun(deps: Deps, candidate: Candidate, run: RunState, page: ReplayPage): Promise<void> {
  const spec = await readSpec(deps, run);
  const { insteadOf } = candidate;
  if (insteadOf !== undefined && insteadOf !== 'operator' && spec.policy_pin?.name !== insteadOf) return;
  page.runs += 1;
  for (const call of await readCalls(readWholeLog(deps.redis, run.id))) {
    page.calls += 1;
    const { stepId, at, tool, was, decision } = call;
    const facts = await factsThen(deps, { spec, run }, call);
    const about = { runId: run.id, stepId, at, tool, was, decision, args: facts.ok ? facts.facts.args : facts.args };
    if (!facts.ok) {
      if (page.notJudged.length < mostListed) page.notJudged.push({ ...about, reason: facts.reason });
      else page.leftOut += 1;
      continue;
    }
    const policies = replaced(await policiesThen(deps, spec, call.policies), candidate);
    const verdict = judgeAgain(spec, policies, { facts: facts.facts, ...call });
    if (verdict.action === was) {
      page.unchanged += 1;
      continue;
    }
    page.counts[verdict.action] += 1;
    list(page, { ...about, verdict });
  }
}

function replaced(
  then: policyLanguage.BoundPolicies,
  { document, name, version, insteadOf }: Candidate,
): policyLanguage.BoundPolicies {
  const policy = { name, version, policy: policyLanguage.compilePolicy(document) };
  return insteadOf === 'operator' ? { ...then, operator: [policy] } : { ...then, run: policy };
}

/** Lists a changed call. When the list is full, the call that needs least attention is dropped. */
function list(page: ReplayPage, call: ReplayPage['changed'][number]): void {
  if (page.changed.length < mostListed) {
    page.changed.push(call);
    return;
  }
  page.leftOut += 1;
  const least = page.changed.reduce(
    (lowest, one, at, all) => (order(one) < order(all[lowest] ?? one) ? at : lowest),
    0,
  );
  const other = page.changed[least];
  if (other !== undefined && order(other) < order(call)) page.changed[least] = call;
}

const order = ({ verdict, was, decision }: ReplayPage['changed'][number]): number =>
  policyLanguage.attention({ action: was, decision }, verdict.action);

/**
 * The facts about a past call for the policies: arguments, effect and risk are recorded, the touched paths and hosts are computed from
 * these.
 */
export async function factsThen(
  deps: Pick<EngineDeps, 'blobs' | 'catalog'>,
  { spec, run }: { spec: contract.RunSpec; run: Pick<RunState, 'parent'> },
  { tool, args: checked, written, effect, risk, planning }: LoggedCall,
): Promise<{ ok: true; facts: policyLanguage.CallFacts } | { ok: false; args: unknown; reason: string }> {
  const args = await fromPayload(deps.blobs, written ?? checked);
  const described = describeCall(deps, specThen(spec, { planning }), { run, tool, args });
  if (!described.ok) return { ok: false, args, reason: described.error.message };
  return { ok: true, facts: factsOf(spec, { tool, args, described: { ...described, effect, risk } }) };
}

/** The verdict of these policies. A denial by the run's permissions stays. */
export const judgeAgain = (
  spec: contract.RunSpec,
  policies: policyLanguage.BoundPolicies,
  { facts, gate, planning }: { facts: policyLanguage.CallFacts } & Pick<LoggedCall, 'gate' | 'planning'>,
): contract.Verdict =>
  judgeGrants(specThen(spec, { planning }), facts) ?? withQuestion(policyLanguage.judge(policies, facts), gate);

/**
 * The policies behind a recorded verdict. Redis keeps every policy that was ever in force under its digest.
 * @param policies the digests named by `step.created`; absent in older logs: the policies that the run recorded
 * @returns `isComplete` false when a digest belongs to no known policy
 */
export async function policiesThen(
  { redis, catalog }: Pick<EngineDeps, 'redis' | 'catalog'>,
  spec: contract.RunSpec,
  policies: string | undefined,
): Promise<policyLanguage.BoundPolicies & { isComplete: boolean }> {
  const recorded = policiesOf(spec, undefined);
  if (policies === undefined) return { ...recorded, isComplete: false };
  const [own = '', ...others] = policies.split(' ');
  // The last digest belongs to the built-in rules. Older logs have no such digest.
  const builtinNow = shortDigest(policyLanguage.compilePolicy(policyLanguage.builtinPolicy).digest);
  const ofToolset = toolsetPolicyOf(catalog, spec);
  const toolsetNow = ofToolset && shortDigest(ofToolset.policy.digest);
  const digests = others.filter((digest) => digest !== builtinNow && digest !== toolsetNow);
  // A call from a time before the toolset had rules was judged without them.
  const toolset = toolsetNow !== undefined && others.includes(toolsetNow) ? ofToolset : undefined;
  const known = new Map<string, policyLanguage.NamedPolicy>(
    recorded.operator.map((one) => [shortDigest(one.policy.digest), one]),
  );
  const missing = digests.filter((digest) => !known.has(digest));
  const texts = missing.length === 0 ? [] : await redis.hmget(operatorDocumentsKey, ...missing);
  for (const [at, text] of texts.entries()) {
    if (text === null) continue;
    const policy = policyLanguage.compilePolicy(contract.operatorPolicySchema.parse(JSON.parse(text)));
    known.set(missing[at] ?? '', { name: 'operator', policy });
  }
  const operator = digests.map((digest) => known.get(digest)).filter((one) => one !== undefined);
  const isComplete = operator.length === digests.length && own === shortDigest(recorded.run.policy.digest);
  return { run: recorded.run, operator, toolset, isComplete };
}
