import { event, problemSchema, problemText, runStatusSchema } from '../event.ts';

export const runPaused = event('run.paused', {
  data: { reason: problemSchema, from: runStatusSchema.optional() },
  line: ({ data }) => problemText(data.reason),
  tone: 'warning',
});
