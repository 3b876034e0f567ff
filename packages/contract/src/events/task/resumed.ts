import { event } from '../event.ts';
import { report } from './used.ts';

export const taskResumed = event('task.resumed', {
  data: report,
  line: ({ data }) => data.task_id,
  isQuiet: true,
});
