import type { CallDescription, RunSpec } from '@holdpoint/contract';
import { type Explanation, explain } from '@holdpoint/policy';
import { describeCall } from '../approvals/describe-call.ts';
import { factsOf, toolsetPolicyOf, withQuestion } from '../approvals/judge-described.ts';
import type { EngineDeps } from '../deps.ts';
import { type Bound, type OperatorInForce, policiesOf } from '../domain/index.ts';
import type { Call } from '../ports/index.ts';

/** A call of a run that need not exist. */
export interface ImaginedCall
  extends Call,
    Pick<RunSpec, 'labels' | 'network' | 'settings' | 'modes' | 'submitted_by'> {}

/**
 * The verdict of the policies on a call, with the reason for every rule.
 * @param policies.operator the operator's policy; `current`: the policy in force
 * @returns the description of a call that its tool refuses
 */
export function explainCall(
  deps: Pick<EngineDeps, 'catalog' | 'operatorPolicy'>,
  { tool, args, ...run }: ImaginedCall,
  { operator, ...bound }: Pick<Bound, 'policy' | 'policy_pin'> & { operator: OperatorInForce | 'current' },
): { ok: true; explanation: Explanation } | Extract<CallDescription, { ok: false }> {
  const described = describeCall(deps, run, { run: { parent: undefined }, tool, args });
  if (!described.ok) return described;
  const current = operator === 'current' ? deps.operatorPolicy?.() : operator;
  const policies = { ...policiesOf(bound, current), toolset: toolsetPolicyOf(deps.catalog, run) };
  const { verdict, parts } = explain(policies, factsOf(run, { tool, args, described }));
  return { ok: true, explanation: { verdict: withQuestion(verdict, described.gate), parts } };
}
