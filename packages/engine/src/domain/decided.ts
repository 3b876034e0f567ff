import { z } from 'zod';
import { payloadSchema } from './payload.ts';
import type { ApprovalState, StepState } from './state.ts';
import { decisionKindSchema } from './vocabulary.ts';

/** A decision that let a call run, as its planner reads it beside the outcome. What a person says with any other decision is the outcome. */
export const decidedSchema = z.strictObject({
  decision: decisionKindSchema.extract(['approve', 'edit']),
  args: payloadSchema.optional().describe('With edit: the arguments that ran'),
  message: z.string().optional(),
  in_doubt: z.literal(true).optional().describe('An earlier attempt may have taken effect, and it ran again'),
});
export type Decided = z.infer<typeof decidedSchema>;

interface Decision {
  decision: z.infer<typeof decisionKindSchema>;
  args?: Decided['args'] | undefined;
  message?: string | undefined;
}

/** `undefined`: the call did not run. */
export function toDecided({ decision, args, message }: Decision, isInDoubt: boolean): Decided | undefined {
  if (decision !== 'approve' && decision !== 'edit') return undefined;
  return {
    decision,
    ...(args === undefined ? {} : { args }),
    ...(message === undefined ? {} : { message }),
    ...(isInDoubt ? { in_doubt: true as const } : {}),
  };
}

/** Every such decision about a step, in order; of a step that a fork inherited, also those in the other run. */
export function decisionsOf(step: StepState, approvals: readonly ApprovalState[]): Decided[] {
  const own = approvals.flatMap(({ request, decision }) => {
    if (request.step_id !== step.id || decision === undefined) return [];
    return toDecided(decision, request.kind === 'in_doubt') ?? [];
  });
  return [...(step.outcome?.decided ?? []), ...own];
}
