import { approvalEvent, approvalIdSchema, z } from '../event.ts';

export const approvalCanceled = approvalEvent('approval.canceled', {
  data: { approval_id: approvalIdSchema, reason: z.string() },
  line: ({ data }, { call }) => `${call} (${data.reason})`,
  isQuiet: true,
});
