import type { OperatorPolicy, PolicyAction, RunSpec, Verdict } from '@holdpoint/contract';
import { type BoundPolicies, builtinPolicy, type CallFacts, compilePolicy, judge } from '@holdpoint/policy';

/** The policies that bind a run. `operator`: those in force when the run, or a run that it continues, was accepted. */
type Bound = Pick<RunSpec, 'policy' | 'operator'>;

const strictness: Record<PolicyAction, number> = { allow: 0, hold: 1, deny: 2 };

/** The stricter of two verdicts. The first one when both are as strict. */
export const stricter = (one: Verdict, other: Verdict): Verdict =>
  strictness[other.action] > strictness[one.action] ? other : one;

/**
 * The strictest verdict on a call by the run's policy and the operator's policies, recorded and current: a later change of the operator's
 * policy never relaxes the recorded ones. Pure.
 */
export const judgeCall = (bound: Bound, current: OperatorPolicy | undefined, facts: CallFacts): Verdict =>
  judge(policiesOf(bound, current), facts);

/** Equal for the same policies: a recorded verdict with this name needs no second look. */
export const policiesInForce = (bound: Bound, current: OperatorPolicy | undefined): string => {
  const { run, operator } = policiesOf(bound, current);
  // A release may change the built-in rules.
  return [run, ...operator, { policy: compilePolicy(builtinPolicy) }]
    .map(({ policy }) => policy.digest.slice('sha256:'.length, 'sha256:'.length + 16))
    .join(' ');
};

function policiesOf({ policy, operator }: Bound, current: OperatorPolicy | undefined): BoundPolicies {
  return {
    run: { name: 'run', policy: compilePolicy(policy) },
    operator: withCurrent(operator, current).map((one) => ({ name: 'operator', policy: compilePolicy(one) })),
  };
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

/** Policies with the same content have the same digest: `sha256:` and 64 hex digits. */
export const operatorPolicyDigest = (policy: OperatorPolicy): string => compilePolicy(policy).digest;
