import { maxRules, type PolicyRule, policySchema } from '@holdpoint/contract';
import { checkRules } from '../document/check-rules.ts';
import { type CompiledPolicy, compilePolicy } from '../judge/compile-policy.ts';
import { type BoundPolicies, judge } from '../judge/judge.ts';
import { isRefused } from './attention.ts';
import { type HeldPart, heldParts } from './held-parts.ts';
import type { RecordedCall } from './recorded-call.ts';
import { ruleFor } from './rule-for.ts';

/** Rules for calls approved by people every time. Never made without a person. */
export interface ProposedRules<Call extends RecordedCall = RecordedCall> {
  rules: PolicyRule[];
  /** How often people approved. */
  approved: number;
  /** The calls allowed by the rules. */
  calls: Call[];
  /** "approved 143 times, never refused; …" */
  summary: string;
}

interface Options<Call extends RecordedCall> {
  policiesOf: (call: Call) => BoundPolicies;
  /** Approvals required for a group. @default 3 */
  least?: number | undefined;
}

/**
 * Groups the held and approved calls by their held parts, and finds the narrowest rules for each group. A group is left out when its rules
 * would allow a refused or denied call. Yields undefined after a stretch of work, for a pause of the caller. Pure.
 */
export function* proposeRules<Call extends RecordedCall>(
  calls: readonly Call[],
  { policiesOf, least = 3 }: Options<Call>,
): Generator<ProposedRules<Call> | undefined, void> {
  const unwanted = calls.filter((call) => isRefused(call) || call.action === 'deny');
  const groups = new Map<string, Member<Call>[]>();
  let done = 0;
  for (const call of calls) {
    if (call.action !== 'hold' || call.decision?.kind !== 'approve') continue;
    const held = heldParts(policiesOf(call), call.facts);
    const key = [...new Set(held.map((part) => part.key))].sort().join('\n');
    groups.set(key, [...(groups.get(key) ?? []), { call, held }]);
    if (++done % stretch === 0) yield undefined;
  }
  for (const [key, members] of groups) {
    if (key !== '' && members.length >= least) yield* propose(members, unwanted, { policiesOf, least });
  }
}

interface Member<Call> {
  call: Call;
  held: readonly HeldPart[];
}

/** Calls judged without a pause: some milliseconds. */
const stretch = 50;

function* propose<Call extends RecordedCall>(
  members: readonly Member<Call>[],
  unwanted: readonly Call[],
  { policiesOf, least }: Required<Options<Call>>,
): Generator<ProposedRules<Call> | undefined, void> {
  const byKey = Map.groupBy(
    members.flatMap(({ call, held }) => held.map((part) => ({ ...part, facts: call.facts }))),
    ({ key }) => key,
  );
  const rules = [...byKey.values()].flatMap((parts) => ruleFor(parts) ?? []);
  if (rules.length < byKey.size || checkRules(rules).length > 0) return;
  const before = addRules(rules);
  const passes = (call: Call) => judge(before(policiesOf(call)), call.facts).action === 'allow';
  for (const [at, call] of unwanted.entries()) {
    if (passes(call)) return;
    if (at % stretch === stretch - 1) yield undefined;
  }
  const calls: Call[] = [];
  for (const [at, { call }] of members.entries()) {
    if (passes(call)) calls.push(call);
    if (at % stretch === stretch - 1) yield undefined;
  }
  if (calls.length < least) return;
  const these = rules.length === 1 ? 'this rule' : 'these rules';
  const summary = `approved ${calls.length} times, never refused; ${these} would have let these calls through`;
  yield { rules, approved: calls.length, calls, summary };
}

/** Adds rules before the rules of a run. Compiles once per policy. */
function addRules(rules: readonly PolicyRule[]): (policies: BoundPolicies) => BoundPolicies {
  const known = new Map<string, CompiledPolicy>();
  return ({ run, ...others }) => {
    const policy = known.get(run.policy.digest) ?? compilePolicy(before(rules, run.policy));
    known.set(run.policy.digest, policy);
    return { ...others, run: { ...run, policy } };
  };
}

const before = (rules: readonly PolicyRule[], policy: CompiledPolicy) =>
  policySchema.parse({ rules: [...rules, ...policy.rules.map(({ rule }) => rule)].slice(0, maxRules) });
