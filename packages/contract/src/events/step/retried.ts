import { attempt, problemSchema, problemText, restore, stepEvent } from '../event.ts';

export const stepRetried = stepEvent('step.retried', {
  data: { attempt, reason: problemSchema, restore },
  line: ({ data }, { call }) => `${call} ${problemText(data.reason)}`,
  tone: 'warning',
});
