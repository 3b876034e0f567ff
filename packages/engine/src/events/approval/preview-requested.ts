import { attribute, type Meaning, note, runRecord } from '../meaning.ts';

export const approvalPreviewRequested: Meaning<'approval.preview_requested'> = {
  changes(state, { time, data: { approval_id, by } }, { approval }) {
    state.set(approval.previewing(approval_id), { by, at: time });
    state.clear(approval.preview_failed(approval_id));
  },
  span: (trace, { data }) => note(trace, data.approval_id, 'preview requested', { [attribute.decidedBy]: data.by }),
  audit: { record: runRecord },
};
