import { approvalCommon, attribute, close, learnApproval, type Meaning } from '../meaning.ts';

export const approvalExpired: Meaning<'approval.expired'> = {
  changes: (state, { data }) => state.closeApproval(data.approval_id, 'expired'),
  span: (trace, { data }) => close(trace, data.approval_id, { attributes: { [attribute.decision]: 'expired' } }),
  audit: {
    learn: (facts, event) => learnApproval(facts, event, { status: 'expired' }),
    record(facts, event, redact) {
      const { approval_id } = event.data;
      const expires_at = facts.approvals.get(approval_id)?.data.expires_at;
      const common = approvalCommon(facts, event, redact);
      facts.approvals.delete(approval_id);
      return { ...common, status: 'expired', expires_at };
    },
  },
};
