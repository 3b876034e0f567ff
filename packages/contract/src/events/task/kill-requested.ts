import { event, taskIdSchema, z } from '../event.ts';

export const taskKillRequested = event('task.kill_requested', {
  data: { task_id: taskIdSchema, by: z.string() },
  line: ({ data }) => `${data.task_id} by ${data.by}`,
});
