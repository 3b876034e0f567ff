import type { ApprovalTerms, DecisionKind } from '@holdpoint/contract';
import { decidesAlone, type Panel, type RuleState, whyNot } from '../domain/index.ts';

interface Asked extends Pick<ApprovalTerms, 'confirm'> {
  allowed_decisions: readonly DecisionKind[];
}

/**
 * The rule that answers a call, of all rules about it in force: a rejection wins over every approval. A rule decides as its maker would,
 * who must have the right to: one rejection decides, an approval counts where its maker approves alone. A rule has no passkey, and the person
 * who made it is not there: it approves no call that asks for one.
 */
export function chooseRule(
  rules: readonly { rule: RuleState }[],
  panel: Panel,
  { allowed_decisions: allowed, confirm }: Asked,
): RuleState | undefined {
  const found = (decision: DecisionKind, counts: (rule: RuleState) => boolean): RuleState | undefined =>
    allowed.includes(decision)
      ? rules.find(({ rule }) => decisionOf(rule) === decision && counts(rule))?.rule
      : undefined;
  const maker = ({ made: { by: name, kind } }: RuleState) => ({ name, kind });
  return (
    found('reject', (rule) => whyNot(panel, maker(rule)) === undefined) ??
    found('approve', (rule) => confirm === undefined && decidesAlone(panel, maker(rule)))
  );
}

export const decisionOf = ({ made }: Pick<RuleState, 'made'>): 'approve' | 'reject' => made.decision ?? 'approve';
