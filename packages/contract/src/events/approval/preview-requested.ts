import { approvalEvent, approvalIdSchema, z } from '../event.ts';

export const approvalPreviewRequested = approvalEvent('approval.preview_requested', {
  data: { approval_id: approvalIdSchema, by: z.string() },
  meaning: 'A worker runs the call on a throw-away fork. An approval that carries the result replaces this one.',
  line: ({ data: { by } }, { call }) => `${call}: ${by} wants to see the result before the decision`,
});
