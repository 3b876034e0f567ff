import { event, payloadSchema, z } from '../event.ts';

export const runSucceeded = event('run.succeeded', {
  data: {
    message: z.string(),
    output: payloadSchema.optional().describe('The final answer as a JSON value, when the goal has an `output_schema`'),
  },
  line: ({ data }) => data.message,
  tone: 'good',
});
