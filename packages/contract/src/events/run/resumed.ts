import { event, z } from '../event.ts';
import { usageSchema } from '../usage.ts';
import { toolVersionsSchema } from './created.ts';

export const runResumed = event('run.resumed', {
  data: {
    after: z.enum(['approval', 'task', 'pause', 'end', 'calls', 'model']),
    status: z.enum(['queued', 'running', 'waiting']),
    turn: z.int(),
    used: usageSchema.optional().describe('After a pause: limits count from here'),
    tools: toolVersionsSchema.optional().describe('The versions that the run continues with, when they changed'),
    model: z.string().optional().describe('The model that it continues with, when a person changed it'),
    by: z.string().optional(),
  },
  line: ({ data: { after, by } }) =>
    ({
      approval: 'after the decision',
      task: 'a sub-agent continues',
      pause: 'after the pause',
      end: 'after its end',
      calls: 'its caller has gone on',
      model: by === undefined ? 'the model answered' : `${by} has the model asked now`,
    })[after],
  isQuiet: true,
});
