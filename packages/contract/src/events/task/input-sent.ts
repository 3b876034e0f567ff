import { lastInputSchema, payloadOf, stepEvent, type TaskInput, taskIdSchema } from '../event.ts';

export const taskInputSent = stepEvent('task.input_sent', {
  data: {
    task_id: taskIdSchema,
    input: payloadOf<TaskInput>().describe('The worker of the command writes it once'),
    ...lastInputSchema.omit({ step_id: true }).shape,
  },
  line: ({ data }, { call }) => `${data.task_id} by ${call}`,
});
