import { attribute, type Meaning, note, runRecord } from '../meaning.ts';

export const approvalDelegated: Meaning<'approval.delegated'> = {
  changes: (state, { data: { approval_id, delegations } }, { approval }) =>
    state.set(approval.delegations(approval_id), delegations),
  span: (trace, { data }) => note(trace, data.approval_id, 'approval delegated', { [attribute.decidedBy]: data.from }),
  audit: { record: runRecord },
};
