import type { DecisionKind, Grant } from '@holdpoint/contract';
import type { ApprovalState, StepState } from './model.ts';

interface Decision {
  decision: DecisionKind;
  args?: Grant['args'];
  message?: string;
  by?: string;
  rule_id?: string;
  expired?: true;
}

/** `undefined` when the call did not run. */
export function toGrant(
  { decision, args, message, by, rule_id, expired }: Decision,
  isIndeterminate: boolean,
): Grant | undefined {
  if (decision !== 'approve' && decision !== 'edit') return undefined;
  return { decision, args, message, by, rule_id, expired, indeterminate: isIndeterminate || undefined };
}

/** The decisions for the execution of a step, in order. For a step inherited by a fork, the decisions in the original run come first. */
export function grantsOf(step: StepState, approvals: readonly ApprovalState[]): Grant[] {
  const own = approvals.flatMap(({ request, decision }) => {
    if (request.step_id !== step.id || decision === undefined) return [];
    return toGrant(decision, request.kind === 'indeterminate') ?? [];
  });
  return [...(step.outcome?.grants ?? []), ...own];
}
