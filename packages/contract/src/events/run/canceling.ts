import { event, runStatusSchema, z } from '../event.ts';

export const runCanceling = event('run.canceling', {
  data: { by: z.string(), message: z.string().optional(), from: runStatusSchema.optional() },
  line: ({ data: { by, message } }) => `by ${by}${message === undefined ? '' : `: ${message}`}`,
  tone: 'warning',
});
