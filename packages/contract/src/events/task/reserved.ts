import { event, stepIdSchema, taskIdSchema } from '../event.ts';

export const taskReserved = event('task.reserved', {
  data: {
    task_id: taskIdSchema,
    for_step: stepIdSchema.describe('A step of a sub-agent that is about to start one more sub-agent'),
  },
  line: ({ data }) => `${data.task_id} starts one more sub-agent below (${data.for_step})`,
  tone: 'faint',
  isQuiet: true,
});
