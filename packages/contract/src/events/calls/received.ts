import { postedCallsSchema } from '../../posted-calls.ts';
import { event, z } from '../event.ts';

export const callsReceived = event('calls.received', {
  data: {
    number: z.int().min(1).describe('Each request of calls to the run has a number, from 1'),
    by: z.string(),
    ...postedCallsSchema.shape,
    key: z.string().optional().describe('Digest of the Idempotency-Key'),
    request: z.string().optional().describe('Digest of the request that had this key'),
  },
  line: ({ data: { number, steps, by } }, { counted }) => `${number}: ${counted(steps.length, 'call')} from ${by}`,
});
