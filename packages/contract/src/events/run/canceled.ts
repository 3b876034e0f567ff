import { event, z } from '../event.ts';

export const runCanceled = event('run.canceled', {
  data: { dropped: z.int().optional().describe('The calls that were received up to this number are never made') },
  line: () => '',
  tone: 'warning',
});
