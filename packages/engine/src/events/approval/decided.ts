import * as meaning from '../meaning.ts';

export const approvalDecided: meaning.Meaning<'approval.decided'> = {
  changes(state, { step_id, time, data }, { run, step, approval }) {
    const { approval_id, snapshot, writes, ...decision } = data;
    state.closeApproval(approval_id, statusAfterDecision[decision.decision]);
    state.set(approval.decision(approval_id), { ...decision, decided_at: time });
    if (step_id === undefined) return;
    state.set(step.approved_snapshot(step_id), snapshot);
    if (writes) state.set(run.writer, step_id);
  },
  span(trace, { data }) {
    const { approval_id, decision, by, rule_id, made_rule, votes, expired } = data;
    meaning.close(trace, approval_id, {
      attributes: {
        [meaning.attribute.decision]: decision,
        [meaning.attribute.decidedBy]: by,
        [meaning.attribute.ruleId]: rule_id,
        [meaning.attribute.madeRule]: made_rule,
        [meaning.attribute.votes]: votes?.length,
        [meaning.attribute.approvalExpired]: expired,
      },
    });
  },
  audit: {
    learn(facts, event) {
      const { decision, by, action_digest } = event.data;
      meaning.learnApproval(facts, event, {
        status: statusAfterDecision[decision],
        decided_by: { name: by },
        action_digest,
      });
    },
    record(facts, event, redact) {
      const common = meaning.approvalCommon(facts, event, redact);
      facts.approvals.delete(event.data.approval_id);
      const { decision, action_digest, snapshot, args, asked, message, by } = event.data;
      const { votes, rule_id, made_rule, expired } = event.data;
      return {
        ...{
          ...common,
          status: statusAfterDecision[decision],
          decision,
          action_digest,
          snapshot,
          decided_by: { name: by },
        },
        ...(args && { args: meaning.textOfPayload(args, redact) }),
        asked: asked && meaning.textOfPayload(asked, redact),
        ...{
          votes: votes?.map((one) => ({ name: one.by, kind: one.kind, ...meaning.proofOf(one) })),
          rule_id,
          made_rule,
          expired,
        },
        ...meaning.proofOf(event.data),
        message: message === undefined ? undefined : meaning.shortText(message, redact),
      };
    },
  },
};

/** The status of an approval after each decision. */
export const statusAfterDecision = {
  approve: 'approved',
  edit: 'edited',
  reject: 'rejected',
  respond: 'responded',
} as const;
