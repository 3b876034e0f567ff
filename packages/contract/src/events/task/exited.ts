import { event, taskIdSchema, taskOutcomeSchema, taskStatusSchema } from '../event.ts';
import { endText } from './ended.ts';

export const taskExited = event('task.exited', {
  data: {
    task_id: taskIdSchema,
    status: taskStatusSchema.extract(['completed', 'failed', 'killed', 'timed_out']),
    ...taskOutcomeSchema.shape,
  },
  line: ({ data }) => endText(data),
  isQuiet: true,
});
