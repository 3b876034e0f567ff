import { stepEvent, z } from '../event.ts';

export const stepCancelRequested = stepEvent('step.cancel_requested', {
  data: { by: z.string(), message: z.string().optional() },
  meaning: 'The step ends, and never starts again. One that runs nothing settles in the same append',
  line: ({ data: { by, message } }, { call }) => `${call} by ${by}${message === undefined ? '' : `: ${message}`}`,
  tone: 'warning',
});
