import { attribute, type Meaning, note, runRecord } from '../meaning.ts';

export const approvalVoted: Meaning<'approval.voted'> = {
  changes: (state, { data: { approval_id, votes } }, { approval }) => state.set(approval.votes(approval_id), votes),
  span: (trace, { data }) => note(trace, data.approval_id, 'approval voted', { [attribute.decidedBy]: data.by }),
  audit: { record: runRecord },
};
