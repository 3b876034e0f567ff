import { type PolicyRule, policySchema } from '@holdpoint/contract';
import { checkRules } from '../document/check-rules.ts';
import { compilePolicy } from '../judge/compile-policy.ts';
import { type BoundPolicies, judge } from '../judge/judge.ts';
import { type HeldPart, heldParts } from './held-parts.ts';
import type { RecordedCall } from './recorded-call.ts';
import { isRefused } from './replay-calls.ts';
import { ruleFor } from './rule-for.ts';

/** Rules that would have let calls through that people always approved. Never made without a person. */
export interface ProposedRules {
  rules: PolicyRule[];
  /** How often people approved. */
  approved: number;
  /** The calls that the rules let through. */
  calls: RecordedCall[];
  /** "approved 143 times, never refused; …" */
  summary: string;
}

/**
 * Groups the held calls that people approved by what was held of them, and finds the narrowest rules that cover each group. A group is left out
 * when its rules would let through a call that was refused or denied. Most approvals first. Pure.
 * @param least approvals that a group needs
 */
export function proposeRules(
  calls: readonly RecordedCall[],
  { policiesOf, least = 3 }: { policiesOf: (call: RecordedCall) => BoundPolicies; least?: number },
): ProposedRules[] {
  const unwanted = calls.filter((call) => isRefused(call) || call.action === 'deny');
  const approved = calls.filter(({ action, decision }) => action === 'hold' && decision?.kind === 'approve');
  const groups = Map.groupBy(
    approved.map((call) => ({ call, held: heldParts(policiesOf(call), call.facts) })),
    ({ held }) => [...new Set(held.map(({ key }) => key))].sort().join('\n'),
  );
  return [...groups]
    .filter(([key, members]) => key !== '' && members.length >= least)
    .flatMap(([, members]) => propose(members, unwanted, { policiesOf, least }) ?? [])
    .sort((a, b) => b.approved - a.approved);
}

function propose(
  members: readonly { call: RecordedCall; held: readonly HeldPart[] }[],
  unwanted: readonly RecordedCall[],
  { policiesOf, least }: { policiesOf: (call: RecordedCall) => BoundPolicies; least: number },
): ProposedRules | undefined {
  const byKey = Map.groupBy(
    members.flatMap(({ call, held }) => held.map((part) => ({ ...part, facts: call.facts }))),
    ({ key }) => key,
  );
  const rules = [...byKey.values()].flatMap((parts) => ruleFor(parts) ?? []);
  if (rules.length < byKey.size || checkRules(rules).length > 0) return undefined;
  const passes = (call: RecordedCall) => judge(withRules(policiesOf(call), rules), call.facts).action === 'allow';
  if (unwanted.some(passes)) return undefined;
  const calls = members.map(({ call }) => call).filter(passes);
  if (calls.length < least) return undefined;
  const these = rules.length === 1 ? 'this rule' : 'these rules';
  const summary = `approved ${calls.length} times, never refused; ${these} would have let these calls through`;
  return { rules, approved: calls.length, calls, summary };
}

/** Before the rules of the run. */
function withRules({ run, operator }: BoundPolicies, rules: readonly PolicyRule[]): BoundPolicies {
  const document = policySchema.parse({
    rules: [...rules, ...run.policy.rules.map(({ rule }) => rule)].slice(0, 1000),
  });
  return { run: { ...run, policy: compilePolicy(document) }, operator };
}
