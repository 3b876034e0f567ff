import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { canonicalJson, type Policy, type PolicyRule, type Tenant } from '@holdpoint/contract';
import { type BoundPolicies, builtin, type ProposedRules, proposeRules, type RecordedCall } from '@holdpoint/policy';
import type { StepApproval } from '../../approvals/view-approval.ts';
import type { EngineDeps } from '../../deps.ts';
import { EngineError, judgeGrants, type RunState, specThen } from '../../domain/index.ts';
import { Damaged, readEntry, readSpec, readWholeLog } from '../../log/index.ts';
import { getPolicy } from '../read-policies.ts';
import { readCalls } from './read-calls.ts';
import { factsThen, policiesThen, runsSince } from './replay-policy.ts';

/** A recorded call with the facts that people see. */
interface PastCall extends RecordedCall {
  at: string;
}

export interface Proposals {
  proposals: ProposedRules<PastCall>[];
  runs: number;
  /** The number of held or denied calls: only these calls say something about rules. */
  calls: number;
  /** Later than the requested time when the period has more calls than the cap. */
  since: string;
  /** Runs that cannot be read: the proposals do not consider refusals in these runs. */
  damaged: Damaged[];
}

/** Caps the calls of one look, because all of them are in memory together. */
const mostCalls = 5000;
const mostBytes = 64 * 1024 * 1024;

/** Rules that would have allowed the calls that people always approved. Most approvals first. Changes nothing. */
export async function proposeFromPast(
  deps: Pick<EngineDeps, 'redis' | 'blobs' | 'catalog'>,
  { tenant, since, least }: { tenant: Tenant; since: string; least: number },
): Promise<Proposals> {
  const policies = new Map<PastCall, BoundPolicies>();
  const found: Proposals = { proposals: [], runs: 0, calls: 0, since: new Date(since).toISOString(), damaged: [] };
  let bytes = 0;
  for await (const run of runsSince(deps, { tenant, since })) {
    const calls = run instanceof Damaged ? run : await readEntry(run.id, () => callsOf(deps, run));
    if (calls instanceof Damaged) {
      found.damaged.push(calls);
      continue;
    }
    found.runs += 1;
    for (const { past, bound } of calls) {
      bytes += canonicalJson(past.facts.args).length;
      policies.set(past, bound);
    }
    if (policies.size >= mostCalls || bytes >= mostBytes) {
      if (!(run instanceof Damaged)) found.since = run.created_at;
      break;
    }
  }
  found.calls = policies.size;
  const policiesOf = (call: PastCall): BoundPolicies => policies.get(call) ?? { run: builtin(), operator: [] };
  for (const proposal of proposeRules([...policies.keys()], { policiesOf, least })) {
    if (proposal === undefined) await setImmediate();
    else found.proposals.push(proposal);
  }
  found.proposals.sort((a, b) => b.approved - a.approved);
  return found;
}

/** The held or denied calls of a run, with the policies of their time. */
async function callsOf(
  deps: Pick<EngineDeps, 'redis' | 'blobs' | 'catalog'>,
  run: RunState,
): Promise<{ past: PastCall; bound: BoundPolicies }[]> {
  const spec = await readSpec(deps, run);
  const calls: { past: PastCall; bound: BoundPolicies }[] = [];
  for (const call of await readCalls(readWholeLog(deps.redis, run.id))) {
    // A question to a person is answered, not approved, and each plan has its own decision.
    if (call.was === 'allow' || call.gate !== undefined) continue;
    const read = await factsThen(deps, { spec, run }, call);
    // No policy rule overrides a denial by the permissions of a run.
    if (!read.ok || judgeGrants(specThen(spec, call), read.facts) !== undefined) continue;
    const { stepId: step_id, at, was: action, decision } = call;
    const past: PastCall = { run_id: run.id, step_id, at, facts: read.facts, action, decision };
    calls.push({ past, bound: await policiesThen(deps, spec, call.policies) });
  }
  return calls;
}

/** Rules for calls like one that a person decided, with the policy that would have them. */
interface Pattern {
  /** Undefined: the run has no policy with a name, or the policy was deleted. */
  policy: { name: string; version: number } | undefined;
  found: { proposal: Proposals['proposals'][number]; document: Policy; digest: string } | { whyNot: string };
}

/** The pattern of the call of an approval: the rules that `proposeFromPast` finds for it. Changes nothing. */
export async function findPattern(
  deps: Pick<EngineDeps, 'redis' | 'blobs' | 'catalog'>,
  view: StepApproval,
  period: { tenant: Tenant; since: string; least: number },
): Promise<Pattern> {
  const { policy, document: base } = await baseOf(deps, view, period.tenant);
  const { proposals } = await proposeFromPast(deps, period);
  const proposal = proposals.find(({ calls }) => calls.some(({ step_id }) => step_id === view.step.id));
  if (proposal === undefined) return { policy, found: { whyNot: nothingProposed } };
  const known = new Set(base.rules.map((rule) => canonicalJson(rule)));
  const rules = proposal.rules.filter((rule) => !known.has(canonicalJson(rule)));
  if (rules.length === 0) return { policy, found: { whyNot: 'the policy has these rules already' } };
  const document = { ...base, rules: [...rules, ...base.rules] };
  return { policy, found: { proposal: { ...proposal, rules }, document, digest: digestOf(rules, policy, document) } };
}

const nothingProposed =
  'no rule would let through this call and only what people always approved: too few were approved, or one was refused';

/** Everything that a confirmation puts in force. */
const digestOf = (rules: readonly PolicyRule[], policy: Pattern['policy'], document: Policy): string =>
  `sha256:${createHash('sha256')
    .update(canonicalJson([rules, policy ?? null, document]))
    .digest('hex')}`;

/** The newest version of the policy with a name that the run was accepted with; otherwise the run's own rules. */
async function baseOf(
  deps: Pick<EngineDeps, 'redis' | 'blobs'>,
  { run }: StepApproval,
  tenant: Tenant,
): Promise<{ policy: Pattern['policy']; document: Policy }> {
  const { policy: own, policy_pin: pin } = await readSpec(deps, run);
  if (pin === undefined) return { policy: undefined, document: own };
  try {
    const { name, version, document } = await getPolicy(deps, { tenant, name: pin.name });
    return { policy: { name, version }, document: document as Policy };
  } catch (error) {
    if (error instanceof EngineError && error.code === 'policy_not_found') return { policy: undefined, document: own };
    throw error;
  }
}
