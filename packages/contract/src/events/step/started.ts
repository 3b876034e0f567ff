import { attempt, epoch, stepEvent, z } from '../event.ts';

export const stepStarted = stepEvent('step.started', {
  data: {
    attempt,
    worker: z.string(),
    epoch: epoch.optional(),
    writes: z.literal(true).optional(),
    began_at: z.iso.datetime().optional().describe('When the first attempt began that was not held; absent: now'),
    waited: z.literal(true).optional().describe('It had waited for a task, and not for a worker'),
  },
  line: ({ data }, { call }) => `${call}${data.attempt > 1 ? ` (attempt ${data.attempt})` : ''}`,
  isQuiet: true,
});
