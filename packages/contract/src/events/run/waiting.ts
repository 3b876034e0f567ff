import { event, z } from '../event.ts';

export const runWaiting = event('run.waiting', {
  data: { for: z.enum(['approval', 'task', 'calls', 'model']) },
  line: ({ data }) => reasons[data.for],
  tone: 'warning',
  isQuiet: true,
});

const reasons = {
  approval: 'for an approval',
  task: 'for sub-agents that wait or are paused',
  calls: 'for calls from outside',
  model: 'for its model',
};
