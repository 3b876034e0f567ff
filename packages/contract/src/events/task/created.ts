import { stepEvent, taskAboutSchema, taskIdSchema } from '../event.ts';

export const taskCreated = stepEvent('task.created', {
  data: { task_id: taskIdSchema, ...taskAboutSchema.omit({ step_id: true }).shape },
  line: ({ data: { task_id, agent, title } }) => [task_id, agent && `${agent}:`, title].filter(Boolean).join(' '),
});
