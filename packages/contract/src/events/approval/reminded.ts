import { approvalEvent, approvalIdSchema, z } from '../event.ts';

export const approvalReminded = approvalEvent('approval.reminded', {
  data: { approval_id: approvalIdSchema, times: z.int().min(1) },
  line: ({ data }, { call }) => `${call} still waits for a decision (reminder ${data.times})`,
});
