import { approvalEvent, approvalIdSchema, problemSchema, problemText } from '../event.ts';

export const approvalPreviewFailed = approvalEvent('approval.preview_failed', {
  data: { approval_id: approvalIdSchema, reason: problemSchema },
  meaning: 'There is no result to show. The approval stays open as it was.',
  line: ({ data: { reason } }, { call }) => `${call}: ${problemText(reason)}`,
  tone: 'warning',
});
