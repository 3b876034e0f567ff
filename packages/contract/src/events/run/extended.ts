import { event, z } from '../event.ts';
import { usageSchema } from '../usage.ts';

export const runExtended = event('run.extended', {
  data: { used: usageSchema.describe('Limits count from here, as after a pause'), by: z.string() },
  line: ({ data }) => `limits count from here, by ${data.by}`,
});
