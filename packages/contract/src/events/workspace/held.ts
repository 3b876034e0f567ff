import { event, taskIdSchema, z } from '../event.ts';

export const workspaceHeld = event('workspace.held', {
  data: {
    task_id: taskIdSchema,
    merges: z.literal(true).optional().describe('The task brings the changes of a sub-agent into the tree'),
  },
  line: ({ data }) => `for ${data.task_id}`,
  isQuiet: true,
});
