import { createHash } from 'node:crypto';
import {
  canonicalJson,
  type Effect,
  type OperatorPolicy,
  type Policy,
  type PolicyAction,
  type Risk,
} from '@holdpoint/contract';

/** The policies that bind a run. `operator`: those in force when the run, or a run that it continues, was accepted. */
interface Bound {
  policy: Policy;
  operator?: readonly OperatorPolicy[] | undefined;
}

const strictness: Record<PolicyAction, number> = { allow: 0, hold: 1, deny: 2 };

/**
 * The strictest verdict on a call by the run's policy and the operator's policies, recorded and current: a later change of the operator's
 * policy never relaxes the recorded ones. Pure.
 */
export function judgeCall(
  bound: Bound,
  current: OperatorPolicy | undefined,
  call: { tool: string; effect: Effect; risk: Risk },
): PolicyVerdict {
  let strictest = judge(bound.policy, call);
  for (const operator of withCurrent(bound.operator, current)) {
    const found = matchingRule(operator.rules, call);
    if (found === undefined || strictness[found.rule.action] <= strictness[strictest.action]) continue;
    const { action, reason } = found.rule;
    strictest = { action, reason: reason ?? `rule ${found.number} of the operator's policy: ${action}` };
  }
  return strictest;
}

export const holdsPublish = (bound: Bound, current: OperatorPolicy | undefined): 'run' | 'operator' | undefined => {
  if (withCurrent(bound.operator, current).some(({ publish }) => publish === 'hold')) return 'operator';
  return bound.policy.publish === 'hold' ? 'run' : undefined;
};

/** The recorded policies and the current one, each once. */
export function withCurrent(
  recorded: readonly OperatorPolicy[] | undefined,
  current: OperatorPolicy | undefined,
): OperatorPolicy[] {
  const all = current === undefined ? (recorded ?? []) : [...(recorded ?? []), current];
  return [...new Map(all.map((one) => [operatorPolicyDigest(one), one])).values()];
}

/** The operator's policies that a new run records. @param before the run that it continues or works for */
export function boundBy(
  current: OperatorPolicy | undefined,
  before: Pick<Bound, 'operator'> = {},
): { operator?: OperatorPolicy[] } {
  const all = withCurrent(before.operator, current);
  return all.length === 0 ? {} : { operator: all };
}

const digests = new WeakMap<OperatorPolicy, string>();

/** Policies with the same content have the same digest: `sha256:` and 64 hex digits. */
export function operatorPolicyDigest(policy: OperatorPolicy): string {
  const known = digests.get(policy);
  if (known !== undefined) return known;
  const digest = `sha256:${createHash('sha256').update(canonicalJson(policy)).digest('hex')}`;
  digests.set(policy, digest);
  return digest;
}

export interface PolicyVerdict {
  action: PolicyAction;
  reason: string;
}

/** The verdict of one policy on a call. Pure. */
export function judge(policy: Policy, call: { tool: string; effect: Effect; risk: Risk }): PolicyVerdict {
  const found = matchingRule(policy.rules, call);
  if (found) {
    const { action, reason } = found.rule;
    return { action, reason: reason ?? `rule ${found.number} of the run's policy: ${action}` };
  }
  if (call.effect === 'external')
    return { action: 'hold', reason: 'effects outside the workspace are held by default' };
  return { action: 'allow', reason: 'nothing outside the staging workspace can change' };
}

/** The first rule that matches, and its number, from 1. */
function matchingRule(
  rules: Policy['rules'],
  call: { tool: string; effect: Effect; risk: Risk },
): { rule: Policy['rules'][number]; number: number } | undefined {
  const index = rules.findIndex(
    ({ match: { effect, risk, tool, ...others }, action }) =>
      isOneOf(effect, call.effect) &&
      isOneOf(risk, call.risk) &&
      isOneOf(tool, call.tool) &&
      // What this function does not look at never allows a call.
      (action !== 'allow' || Object.values(others).every((one) => one === undefined)),
  );
  const rule = rules[index];
  return rule && { rule, number: index + 1 };
}

const isOneOf = (wanted: string | readonly string[] | undefined, value: string): boolean =>
  wanted === undefined || (typeof wanted === 'string' ? wanted === value : wanted.includes(value));
