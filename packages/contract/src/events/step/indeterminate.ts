import { attempt, problemSchema, problemText, restore, stepEvent } from '../event.ts';

export const stepIndeterminate = stepEvent('step.indeterminate', {
  data: { attempt, reason: problemSchema, restore },
  line: ({ data }, { call }) => `${call} ${problemText(data.reason)}`,
  tone: 'warning',
});
