import { type Meaning, note, runRecord } from '../meaning.ts';

export const approvalEscalated: Meaning<'approval.escalated'> = {
  changes: (state, { data: { approval_id, to } }, { approval }) => state.set(approval.escalated(approval_id), to),
  span: (trace, { data }) => note(trace, data.approval_id, 'approval escalated'),
  audit: { record: runRecord },
};
