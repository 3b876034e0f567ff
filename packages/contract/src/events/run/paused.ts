import { runStatusSchema } from '../../vocabulary.ts';
import { event, problemSchema, problemText } from '../event.ts';

export const runPaused = event('run.paused', {
  data: { reason: problemSchema, from: runStatusSchema.optional() },
  line: ({ data }) => problemText(data.reason),
  tone: 'warning',
});
