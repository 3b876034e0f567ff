import type { ApprovalTerms, DecisionKind, EventOf, Verdict } from '@holdpoint/contract';
import { needsSeveral } from './deciders.ts';
import type { StepState } from './model.ts';

type Asked = Pick<EventOf<'approval.requested'>['data'], 'allowed_decisions'> & ApprovalTerms;

/** The terms of the approval of a held call, from its verdict. */
export function termsOf(step: StepState, verdict: Verdict): Asked {
  const { rule, part, deciders, expires_s, confirm, remind_after_s, escalate } = verdict;
  const isQuestion = step.call.gate === 'input';
  const isPlan = step.call.gate === 'plan';
  const several = needsSeveral(deciders);
  const all: DecisionKind[] = isQuestion ? ['respond', 'reject'] : ['approve', 'edit', 'reject', 'respond'];
  const offered = verdict.decisions === undefined ? all : [...verdict.decisions, 'reject'];
  return {
    ...{ rule, part, deciders, expires_s, confirm, remind_after_s, escalate },
    // Silence answers no question, approves no plan, has no passkey, and does not replace several callers.
    on_expiry:
      verdict.on_expiry === 'allow' && !isQuestion && !isPlan && !several && confirm === undefined
        ? 'allow'
        : undefined,
    allowed_decisions: all.filter(
      (one) => offered.includes(one) && !(several && (one === 'edit' || one === 'respond')),
    ),
  };
}

/** The terms of an approval, for the next approval about the same call. */
export const sameTerms = ({
  rule,
  part,
  deciders,
  expires_s,
  on_expiry,
  confirm,
  remind_after_s,
  escalate,
}: ApprovalTerms): ApprovalTerms => ({
  ...{ rule, part, deciders, expires_s, on_expiry, confirm, remind_after_s, escalate },
});
