import { approvalCommon, attribute, close, learnApproval, type Meaning, shortText } from '../meaning.ts';

export const approvalCanceled: Meaning<'approval.canceled'> = {
  changes: (state, { data }) => state.closeApproval(data.approval_id, 'canceled'),
  span: (trace, { data }) => close(trace, data.approval_id, { attributes: { [attribute.decision]: 'canceled' } }),
  audit: {
    learn: (facts, event) => learnApproval(facts, event, { status: 'canceled' }),
    record(facts, event, redact) {
      const { approval_id, reason } = event.data;
      const common = approvalCommon(facts, event, redact);
      facts.approvals.delete(approval_id);
      return { ...common, status: 'canceled', reason: shortText(reason, redact) };
    },
  },
};
