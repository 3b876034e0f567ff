import type { Decided, DecisionKind } from '@holdpoint/contract';
import type { ApprovalState, StepState } from './state.ts';

interface Decision {
  decision: DecisionKind;
  args?: Decided['args'] | undefined;
  message?: string | undefined;
}

/** `undefined`: the call did not run. */
export function toDecided({ decision, args, message }: Decision, isIndeterminate: boolean): Decided | undefined {
  if (decision !== 'approve' && decision !== 'edit') return undefined;
  return {
    decision,
    ...(args === undefined ? {} : { args }),
    ...(message === undefined ? {} : { message }),
    ...(isIndeterminate ? { indeterminate: true as const } : {}),
  };
}

/** Every such decision about a step, in order; of a step that a fork inherited, also those in the other run. */
export function decisionsOf(step: StepState, approvals: readonly ApprovalState[]): Decided[] {
  const own = approvals.flatMap(({ request, decision }) => {
    if (request.step_id !== step.id || decision === undefined) return [];
    return toDecided(decision, request.kind === 'indeterminate') ?? [];
  });
  return [...(step.outcome?.decided ?? []), ...own];
}
