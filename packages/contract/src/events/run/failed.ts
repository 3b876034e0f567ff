import { event, problemSchema, problemText } from '../event.ts';

export const runFailed = event('run.failed', {
  data: { reason: problemSchema },
  line: ({ data }) => problemText(data.reason),
  tone: 'bad',
});
