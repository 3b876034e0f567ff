import { type Meaning, note, runRecord } from '../meaning.ts';

export const approvalPreviewFailed: Meaning<'approval.preview_failed'> = {
  changes(state, { time, data: { approval_id, reason } }, { approval }) {
    state.clear(approval.previewing(approval_id));
    state.set(approval.preview_failed(approval_id), { reason, at: time });
  },
  span: (trace, { data }) => note(trace, data.approval_id, 'preview failed'),
  audit: { record: runRecord },
};
