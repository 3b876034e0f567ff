import { approvalEvent, approvalIdSchema } from '../event.ts';

export const approvalExpired = approvalEvent('approval.expired', {
  data: { approval_id: approvalIdSchema },
  line: (_event, { call }) => call,
  tone: 'warning',
});
