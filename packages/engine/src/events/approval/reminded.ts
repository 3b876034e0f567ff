import { attribute, type Meaning, noAudit, note, set } from '../meaning.ts';

export const approvalReminded: Meaning<'approval.reminded'> = {
  changes: (state, { data: { approval_id, times } }, { approval }) => state.set(approval.reminded(approval_id), times),
  span(trace, { data }) {
    set(trace, data.approval_id, { [attribute.reminders]: data.times });
    note(trace, data.approval_id, 'approval reminded');
  },
  audit: noAudit,
};
