import { approvalEvent, approvalIdSchema, z } from '../event.ts';

export const approvalEscalated = approvalEvent('approval.escalated', {
  data: {
    approval_id: approvalIdSchema,
    to: z.array(z.string()).describe('Globs on names of callers who may decide from now on'),
  },
  line: ({ data }, { call }) => `${call}: ${data.to.join(', ')} may decide as well`,
});
