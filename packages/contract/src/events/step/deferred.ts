import { attempt, beginsSchema, stepEvent, taskIdSchema, z } from '../event.ts';

export const stepDeferred = stepEvent('step.deferred', {
  data: { attempt, until: z.iso.datetime(), task_id: taskIdSchema, begins: beginsSchema.optional() },
  line: ({ data }, { call }) => `${call} until ${data.task_id} is over, or ${data.until}`,
});
