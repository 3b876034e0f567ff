import { epoch, event, taskIdSchema, z } from '../event.ts';

export const taskStarted = event('task.started', {
  data: { task_id: taskIdSchema, worker: z.string(), epoch: epoch.optional() },
  line: ({ data }) => data.task_id,
  isQuiet: true,
});
