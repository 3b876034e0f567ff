import { attempt, stepEvent, z } from '../event.ts';

export const graphProgress = stepEvent('graph.progress', {
  data: {
    attempt,
    files: z.int().describe('Files that the graph of the snapshot has read, some of them for earlier queries'),
    total: z.int().describe('Files that it reads'),
  },
  line: ({ data }, { call }) => `${call}: ${data.files} of ${data.total} files are in the code graph`,
  tone: 'faint',
  isQuiet: true,
});
